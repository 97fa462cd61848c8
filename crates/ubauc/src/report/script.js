
"use strict";
(() => {
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const percent = (x) => {
    const shown = 100 * x;
    if (x > 0 && shown < 0.05) return shown.toFixed(2) + "\u00a0%";
    if (x < 1 && shown > 99.95) return Math.min(shown, 99.99).toFixed(2) + "\u00a0%";
    return shown.toFixed(1) + "\u00a0%";
  };
  // Counts are whole; weights are shown to one digit.
  const thousands = (n) => (Number.isInteger(n) ? String(n) : n.toFixed(1)).replace(/\B(?=(\d{3})+(?!\d))/g, ",");

  // As the page has it: at least three digits.
  const threeDigits = (x) => {
    if (x >= 1e9 || (x > 0 && x < 5e-7)) return x.toExponential(2).replace("+", "");
    let decimals = 0;
    while (x > 0 && decimals < 6 && x * 10 ** decimals < 99.95) decimals += 1;
    return x.toFixed(decimals);
  };

  // Values under the pointer.
  const tip = document.createElement("div");
  tip.id = "tip";
  tip.hidden = true;
  document.body.append(tip);
  const describe = (event) => {
    const shape = event.target.closest ? event.target.closest(".tip") : null;
    if (!shape) {
      tip.hidden = true;
      return;
    }
    const title = shape.querySelector("title");
    if (title) {
      shape.setAttribute("data-tip", title.textContent);
      title.remove();
    }
    tip.textContent = shape.getAttribute("data-tip");
    tip.hidden = false;
    const box = tip.getBoundingClientRect();
    const left = Math.min(event.clientX + 12, innerWidth - box.width - 8);
    const below = event.clientY + 16 + box.height < innerHeight;
    tip.style.left = Math.max(4, left) + "px";
    tip.style.top = (below ? event.clientY + 16 : event.clientY - box.height - 10) + "px";
  };
  document.addEventListener("pointermove", describe);
  document.addEventListener("pointerdown", describe);
  document.addEventListener("scroll", () => { tip.hidden = true; }, { passive: true });

  // The slider: the confusion table, its sentence and the marks in the charts follow.
  for (const cutter of all(".cutter")) {
    const value = (cell) => {
      const data = cell.querySelector("data");
      return data ? Number(data.value) : null;
    };
    const cuts = all(".all-cuts tbody tr", cutter).map((row) => {
      const cells = [...row.children].map(value);
      return { cut: cells[0], tp: cells[2], fp: cells[4] };
    });
    const slider = cutter.querySelector("input");
    if (!slider || cuts.length < 2) continue;
    const { pos, neg, costFp, costFn, scorer } = cutter.dataset;
    const [P, N] = [Number(pos), Number(neg)];
    const put = (name, number) => {
      const data = cutter.querySelector(`[data-is=${name}]`);
      data.value = number;
      data.textContent = thousands(number);
    };
    const move = () => {
      const { cut, tp, fp } = cuts[Number(slider.value)];
      put("tp", tp);
      put("fn", Math.max(0, P - tp));
      put("fp", fp);
      put("tn", Math.max(0, N - fp));
      const shown = cutter.querySelector("[data-is=cut]");
      shown.value = cut === null ? "" : cut;
      shown.textContent = cut === null ? "above all scores" : cut;
      const flagged = tp + fp;
      let text = `Flags ${percent(flagged / (P + N))} of all rows, finds ${percent(tp / P)} of the positives, and raises a false alarm for ${percent(fp / N)} of the negatives`;
      if (flagged > 0) text += `; of 100 flagged, ${Math.round((100 * tp) / flagged)} are right`;
      if (costFp !== undefined) text += `; cost ${threeDigits(fp * costFp + Math.max(0, P - tp) * costFn)}`;
      cutter.querySelector("[data-is=sentence]").textContent = text + ".";
      slider.setAttribute("aria-valuetext", text);
      if (scorer !== "0") return;
      const places = { roc: [fp / N, tp / P], "precision-recall": [tp / P, flagged > 0 ? tp / flagged : 1], scores: [cut, 0] };
      for (const mark of all(".at-cut")) {
        const place = places[mark.dataset.chart];
        if (!place || place[0] === null) continue;
        const [x, y, dx, dy] = ["x", "y", "dx", "dy"].map((name) => Number(mark.dataset[name]));
        const by = [(place[0] - x) * dx, (place[1] - y) * dy];
        mark.setAttribute("transform", `translate(${by[0].toFixed(1)} ${by[1].toFixed(1)})`);
      }
    };
    slider.addEventListener("input", move);
    cutter.querySelector(".slider").hidden = false;
  }

  // Tables that can be sorted.
  const key = (cell) => {
    const data = cell.querySelector("data");
    if (data && data.value !== "") return Number(data.value);
    const text = cell.textContent.trim();
    const number = Number(text.replace(/,/g, "").replace(/\s*%$/, ""));
    return text !== "" && Number.isFinite(number) ? number : text;
  };
  const compare = (a, b) => {
    if (typeof a === "number" && typeof b === "number") return a - b;
    if (typeof a !== typeof b) return typeof a === "number" ? -1 : 1;
    return a.localeCompare(b);
  };
  for (const table of all("table:not(.plain)")) {
    const body = table.tBodies[0];
    if (!table.tHead || !body || body.rows.length < 3) continue;
    all("th", table.tHead).forEach((head, column) => {
      if (head.textContent === "") return;
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const descending = head.getAttribute("aria-sort") === "ascending";
        all("th", table.tHead).forEach((other) => other.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", descending ? "descending" : "ascending");
        const rows = [...body.rows].map((row) => [key(row.cells[column]), row]);
        rows.sort((a, b) => (descending ? compare(b[0], a[0]) : compare(a[0], b[0])));
        body.append(...rows.map((row) => row[1]));
      });
    });
  }
})();
