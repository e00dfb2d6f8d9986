#!/bin/sh
# The laws on 1, 2 and 4 ranks, with 32-bit and 64-bit PETSc where both are there. `make test-mpi` starts it.
# MPI_PYTHON names another Python with petsc4py, mpi4py, scipy and pytest (conda-forge, PyPI).
set -eu
cd "$(dirname "$0")/../.."

# Both builds by name: without recommendations, python3-petsc4py alone brings whichever of them apt likes.
packages="python3-petsc4py-real python3-petsc4py-64-real \
python3-mpi4py python3-scipy python3-pytest openmpi-bin"
python=${MPI_PYTHON:-/usr/bin/python3}
export PYTHONPATH="$PWD" OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 OMPI_MCA_mpi_yield_when_idle=1

# Debian has the bindings of each build beside its libraries; python3-petsc4py, which would find them, is not needed.
build() {
    for petsc in /usr/lib/petscdir/$1/*-real; do
        if [ -d "$petsc" ]; then
            export PETSC_DIR="$petsc" PYTHONPATH="$PWD:$petsc/lib/python3/dist-packages"
            return 0
        fi
    done
    return 1
}

usable() {
    command -v mpirun >/dev/null 2>&1 && "$python" -c "import petsc4py, mpi4py, scipy, pytest" 2>/dev/null
}

if [ -z "${MPI_PYTHON:-}" ] && [ -z "${PETSC_DIR:-}" ]; then
    build 'petsc3*' || true
fi
if ! usable && [ -z "${MPI_PYTHON:-}" ] && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    echo "installing $packages"
    apt-get update -qq
    # shellcheck disable=SC2086  # a list of words
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $packages
    build 'petsc3*' || true
fi
if ! usable; then
    echo "test-mpi needs mpirun and, for $python, petsc4py, mpi4py, scipy and pytest." >&2
    echo "On Debian, as root: apt-get install $packages" >&2
    echo "With conda-forge: conda install petsc4py mpi4py scipy pytest openmpi, then MPI_PYTHON=python make test-mpi" >&2
    exit 1
fi

options=""
if mpirun --version | grep -q "Open MPI"; then
    options="--oversubscribe --bind-to none"
    [ "$(id -u)" != 0 ] || options="$options --allow-run-as-root"
fi

laws() {
    echo "== laws on $1 rank(s), PETSc with $("$python" -c 'from petsc4py import PETSc; print(8 * PETSc.IntType().itemsize)')-bit indices"
    # shellcheck disable=SC2086  # a list of words
    mpirun $options -n "$1" "$python" -m pytest -c tests/mpi/pytest.ini tests/mpi/test_mpi_laws.py
}

for ranks in 1 2 4; do laws $ranks; done
echo "== examples of gsp_fb.distributed and gsp_fb.open_graph"
"$python" -m pytest -c tests/mpi/pytest.ini --doctest-modules gsp_fb/distributed gsp_fb/opening.py
if [ -z "${MPI_PYTHON:-}" ] && build 'petsc64-3*'; then
    for ranks in 1 2 4; do laws $ranks; done
else
    echo "== no PETSc with 64-bit indices here: not run"
fi
