// How the search ranks its results: a heading that holds what was typed comes first, and leads to its place on the page.
// The other numbers are Sphinx's own.
var Scorer = {
  score: ([, , anchor, , score, , kind]) => (kind === "title" && anchor ? score + 100 : score),
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
