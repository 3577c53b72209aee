"use strict";
// Searches the sections of all pages: each word must occur, and counts more in a heading.
(() => {
  const input = document.getElementById("search-words"), found = document.getElementById("search-found");
  const article = document.querySelector("article"), root = document.body.dataset.root;
  const lower = sections.map(s => ({heading: (s.page + " " + s.heading).toLowerCase(), text: s.text.toLowerCase()}));

  const score = (s, words) => {
    let sum = 0;
    for (const word of words) {
      const inHeading = s.heading.includes(word), inText = s.text.split(word).length - 1;
      if (!inHeading && !inText) return 0;
      sum += (inHeading ? 20 : 0) + Math.min(inText, 5);
    }
    return sum;
  };
  const excerpt = (text, word) => {
    const at = Math.max(0, text.toLowerCase().indexOf(word) - 60);
    return (at ? "… " : "") + text.slice(at, at + 200) + (at + 200 < text.length ? " …" : "");
  };

  const show = () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    found.hidden = words.length === 0;
    article.hidden = words.length > 0;
    const hits = sections.map((s, i) => ({s, n: score(lower[i], words)})).filter(h => h.n > 0);
    hits.sort((a, b) => b.n - a.n);
    found.replaceChildren();
    const count = document.createElement("p");
    count.textContent = hits.length + (hits.length === 1 ? " section" : " sections");
    const list = document.createElement("ol");
    for (const {s} of hits.slice(0, 40)) {
      const item = document.createElement("li"), a = document.createElement("a"), small = document.createElement("small");
      a.href = root + s.href;
      a.textContent = s.page === s.heading ? s.page : s.page + ": " + s.heading;
      a.addEventListener("click", () => { input.value = ""; show(); });
      small.textContent = excerpt(s.text, words[0]);
      item.append(a, small);
      list.append(item);
    }
    found.append(count, list);
  };

  input.addEventListener("input", show);
  document.getElementById("search-form").addEventListener("submit", e => e.preventDefault());
  input.value = new URLSearchParams(location.search).get("q") || "";
  show();
})();
