"use strict";
(() => {
  const main = document.getElementById("view"), lost = document.getElementById("lost");
  const source = new EventSource("events");
  const show = e => { main.innerHTML = JSON.parse(e.data); lost.textContent = ""; };
  source.addEventListener("view", show);
  source.addEventListener("end", e => { show(e); source.close(); });
  source.onerror = () => { lost.textContent = "No connection to bench watch: this is the last state it sent."; };
})();
