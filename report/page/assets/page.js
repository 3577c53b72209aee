"use strict";
(function () {
  var all = function (what, from) { return Array.from((from || document).querySelectorAll(what)); };
  var byId = function (id) { return document.getElementById(id); };
  var say = function (text) { byId("said").textContent = text; };
  all(".needs-script").forEach(function (e) { e.hidden = false; });

  // Light and dark: the reader's choice is kept where the browser lets us.
  var root = document.documentElement, theme = byId("theme");
  var system = matchMedia("(prefers-color-scheme: dark)");
  var stored = null;
  try { stored = localStorage.getItem("bench-theme"); } catch (e) { stored = null; }
  if (stored === "light" || stored === "dark") { root.dataset.theme = stored; }
  var isDark = function () { return root.dataset.theme ? root.dataset.theme === "dark" : system.matches; };
  var nameTheme = function () {
    theme.textContent = isDark() ? "Light" : "Dark";
    theme.setAttribute("aria-label", "Switch to the " + (isDark() ? "light" : "dark") + " theme");
  };
  theme.addEventListener("click", function () {
    root.dataset.theme = isDark() ? "light" : "dark";
    try { localStorage.setItem("bench-theme", root.dataset.theme); } catch (e) { stored = null; }
    nameTheme();
  });
  system.addEventListener("change", nameTheme);
  nameTheme();

  // Sorting. Rows without a value come last, whichever way.
  var valueOf = function (text) {
    var number = parseFloat(text.replace(/^[^0-9+-]*(?=[-+]?[0-9])/, ""));
    return /^[~^!#*]*[-+]?[0-9]/.test(text) && !isNaN(number) ? number : null;
  };
  var natural = new Intl.Collator("en", { numeric: true });
  var sort = function (table, column, way) {
    var body = table.tBodies[0];
    var keyed = Array.from(body.rows).map(function (row, at) {
      var text = row.cells[column].textContent.trim();
      return { row: row, at: at, text: text, value: valueOf(text), none: text === "-" || text === "" };
    });
    var numeric = keyed.every(function (k) { return k.none || k.value !== null; });
    keyed.sort(function (a, b) {
      if (a.none !== b.none) { return a.none ? 1 : -1; }
      var by = numeric ? a.value - b.value : natural.compare(a.text, b.text);
      return (way === "descending" ? -by : by) || a.at - b.at;
    });
    var sorted = document.createDocumentFragment();
    keyed.forEach(function (k) { k.row.classList.remove("new"); sorted.appendChild(k.row); });
    body.appendChild(sorted);
  };
  all("table.sortable").forEach(function (table) {
    var heads = Array.from(table.tHead.rows[0].cells);
    heads.forEach(function (head, column) {
      var button = document.createElement("button");
      button.type = "button";
      button.className = "sort";
      var printed = document.createElement("span"); // heads that a new page of paper repeats lack their buttons
      printed.className = "printed";
      while (head.firstChild) {
        printed.appendChild(head.firstChild.cloneNode(true));
        button.appendChild(head.firstChild);
      }
      head.append(button, printed);
      head.setAttribute("aria-sort", "none");
      button.addEventListener("click", function () {
        var way = head.getAttribute("aria-sort") === "ascending" ? "descending" : "ascending";
        heads.forEach(function (other) { other.setAttribute("aria-sort", "none"); });
        head.setAttribute("aria-sort", way);
        sort(table, column, way);
        say("Sorted by " + button.textContent + ", " + way);
      });
    });
  });

  // The table of steps shows what matches all three filters.
  var steps = byId("steps-table");
  if (steps) {
    var rows = Array.from(steps.tBodies[0].rows).map(function (row) { return { row: row, text: row.textContent.toLowerCase() }; });
    var find = byId("find"), variant = byId("variant"), verdict = byId("verdict-is");
    var narrow = function () {
      var words = find.value.toLowerCase().split(/\s+/), shown = 0;
      rows.forEach(function (r) {
        var fits = words.every(function (w) { return r.text.includes(w); }) &&
          (!variant.value || r.row.dataset.variant === variant.value) &&
          (!verdict.value || r.row.dataset.verdict === verdict.value);
        r.row.hidden = !fits;
        if (fits) { shown++; }
      });
      byId("shown").textContent = shown === rows.length ? rows.length + " steps" : shown + " of " + rows.length + " steps";
    };
    find.form.addEventListener("input", narrow);
    find.form.addEventListener("submit", function (e) { e.preventDefault(); });
    find.form.addEventListener("reset", function () { setTimeout(narrow, 0); });
  }

  // One point's distributions at a time.
  var point = byId("point");
  if (point) {
    var showPoint = function () { all(".point").forEach(function (e) { e.hidden = e.dataset.point !== point.value; }); };
    point.selectedIndex = point.options.length - 1;
    point.addEventListener("change", showPoint);
    showPoint();
    addEventListener("beforeprint", function () { all(".point").forEach(function (e) { e.hidden = false; }); });
    addEventListener("afterprint", showPoint);
  }

  // Variants in the charts: chosen ones stay, one that is pointed at stands out.
  var marks = all("main > section .chart [data-variant]").filter(function (e) { return !e.closest("details.step"); });
  var picks = all(".pick input");
  var paint = function (only) {
    var off = new Set(picks.filter(function (p) { return !p.checked; }).map(function (p) { return p.value; }));
    marks.forEach(function (m) {
      m.classList.toggle("off", off.has(m.dataset.variant));
      m.classList.toggle("dim", only !== undefined && m.dataset.variant !== only);
    });
  };
  picks.forEach(function (p) {
    p.addEventListener("change", function () { paint(); });
    p.parentNode.addEventListener("mouseenter", function () { paint(p.value); });
    p.parentNode.addEventListener("mouseleave", function () { paint(); });
  });

  // The values of a mark, beside it: on hover, on focus, and on the first tap.
  var tip = document.createElement("div");
  tip.className = "tip";
  tip.hidden = true;
  tip.setAttribute("role", "tooltip");
  document.body.appendChild(tip);
  var tipped = null;
  var hideTip = function () { tip.hidden = true; tipped = null; };
  var markOf = function (node) {
    var mark = node.closest && node.closest("svg.chart a, svg.chart g");
    return mark && mark.querySelector(":scope > title") ? mark : null;
  };
  var showTip = function (mark) {
    tip.textContent = mark.querySelector(":scope > title").textContent;
    tip.hidden = false;
    tipped = mark;
    var box = mark.getBoundingClientRect(), wide = document.documentElement.clientWidth;
    tip.style.left = Math.max(4, Math.min(box.left + box.width / 2 - tip.offsetWidth / 2, wide - tip.offsetWidth - 4)) + scrollX + "px";
    tip.style.top = (box.top - tip.offsetHeight - 6 < 0 ? box.bottom + 6 : box.top - tip.offsetHeight - 6) + scrollY + "px";
  };
  document.addEventListener("mouseover", function (e) {
    var mark = markOf(e.target);
    if (mark && mark !== tipped) { showTip(mark); } else if (!mark) { hideTip(); }
  });
  document.addEventListener("focusin", function (e) { var mark = markOf(e.target); if (mark) { showTip(mark); } else { hideTip(); } });
  document.addEventListener("keydown", function (e) { if (e.key === "Escape") { hideTip(); } });
  var touched = null;
  document.addEventListener("pointerdown", function (e) { touched = e.pointerType === "touch" && markOf(e.target) !== tipped ? markOf(e.target) : null; });
  document.addEventListener("click", function (e) {
    var mark = markOf(e.target);
    if (mark && mark === touched) { e.preventDefault(); e.stopPropagation(); showTip(mark); }
    touched = null;
  }, true);

  // Buttons that copy.
  all(".copy").forEach(function (box) {
    var button = document.createElement("button");
    button.type = "button";
    button.textContent = "Copy";
    box.appendChild(button);
    button.addEventListener("click", function () {
      var text = box.querySelector("code").textContent;
      var done = function (ok) {
        button.textContent = ok ? "Copied" : "Press Ctrl+C";
        say(ok ? "Copied" : "Selected; press Ctrl+C");
        setTimeout(function () { button.textContent = "Copy"; }, 2000);
      };
      getSelection().selectAllChildren(box.querySelector("code"));
      var copied = false;
      try { copied = document.execCommand("copy"); } catch (e) { copied = false; }
      if (copied || !navigator.clipboard) { done(copied); return; }
      navigator.clipboard.writeText(text).then(function () { done(true); }, function () { done(false); });
    });
  });

  // A step opens when its address is asked for.
  var openTarget = function () {
    var target = byId(location.hash.slice(1));
    if (!target || !target.matches("details.step")) { return; }
    target.open = true;
    target.scrollIntoView();
    target.querySelector("summary").focus({ preventScroll: true });
  };
  addEventListener("hashchange", openTarget);
  document.addEventListener("click", function (e) {
    var link = e.target.closest && e.target.closest("a[href^='#']");
    if (link && link.getAttribute("href") === location.hash) { openTarget(); } // no hashchange comes
  });
  openTarget();
  var setAll = function (open) { all("details.step").forEach(function (d) { d.open = open; }); };
  if (byId("open-all")) {
    byId("open-all").addEventListener("click", function () { setAll(true); });
    byId("close-all").addEventListener("click", function () { setAll(false); });
  }
})();
