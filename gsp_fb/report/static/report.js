"use strict";
{
  const data = JSON.parse(document.getElementById("graph-data").textContent);
  spectralView(document.getElementById("play"), data);
  window.addEventListener("beforeprint", () => {
    for (const details of document.querySelectorAll("details")) details.open = true;
  });
}
