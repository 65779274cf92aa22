/// The script of the index page: search, sort, filter, over the cards that are there anyway.
enum IndexScript {
  static let library = #"""
    const $ = id => document.getElementById(id);
    const list = $("cards"), tools = $("tools");
    const plain = text => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
    const order = new Intl.Collator(undefined, { numeric: true, sensitivity: "base" });
    const cards = [...list.children].map((element, place) => ({
      element, place, shown: true,
      words: plain(element.dataset.search), title: element.dataset.title,
      made: Date.parse(element.dataset.made) || 0, duration: Number(element.dataset.duration),
      size: Number(element.dataset.size), findings: Number(element.dataset.findings),
      kinds: element.dataset.kinds.split(" "),
    }));
    const orders = {
      newest: (a, b) => b.made - a.made, oldest: (a, b) => a.made - b.made,
      title: (a, b) => order.compare(a.title, b.title),
      longest: (a, b) => b.duration - a.duration, shortest: (a, b) => a.duration - b.duration,
      largest: (a, b) => b.size - a.size, findings: (a, b) => b.findings - a.findings,
    };
    const format = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
    for (const time of list.querySelectorAll("time")) {
      const moment = new Date(time.dateTime);
      if (!Number.isNaN(moment.getTime())) time.textContent = format.format(moment);
    }

    if (tools) {
      const boxes = [...tools.querySelectorAll("input[type=checkbox]")];
      let sorted = "newest";
      /// The view is in the address, so that the way back from a preview leads to it.
      const remember = () => {
        const view = new URLSearchParams();
        if ($("search").value) view.set("q", $("search").value);
        if ($("sort").value !== "newest") view.set("sort", $("sort").value);
        const only = boxes.filter(box => box.checked).map(box => box.value).join(" ");
        if (only) view.set("only", only);
        const hash = view.toString();
        history.replaceState(null, "", hash ? `#${hash}` : "#");
      };
      const recall = () => {
        const view = new URLSearchParams(location.hash.slice(1));
        $("search").value = view.get("q") || "";
        $("sort").value = Object.hasOwn(orders, view.get("sort")) ? view.get("sort") : "newest";
        const only = (view.get("only") || "").split(" ");
        for (const box of boxes) box.checked = only.includes(box.value);
      };
      const show = () => {
        const words = plain($("search").value).split(/\s+/).filter(Boolean);
        const kinds = boxes.filter(box => box.checked).map(box => box.value);
        let count = 0;
        for (const card of cards) {
          const isShown = words.every(word => card.words.includes(word))
            && kinds.every(kind => card.kinds.includes(kind));
          if (isShown !== card.shown) card.element.hidden = !isShown;
          card.shown = isShown;
          if (isShown) count += 1;
        }
        if ($("sort").value !== sorted) {
          sorted = $("sort").value;
          const compare = orders[sorted];
          list.append(...[...cards].sort((a, b) => compare(a, b) || a.place - b.place)
            .map(card => card.element));
        }
        const all = `${cards.length.toLocaleString("en")} video${cards.length === 1 ? "" : "s"}`;
        $("count").textContent = count === cards.length ? all : `${count.toLocaleString("en")} of ${all}`;
        $("empty").hidden = count > 0;
      };
      const update = () => { show(); remember() };
      tools.hidden = false;
      tools.addEventListener("submit", event => event.preventDefault());
      tools.addEventListener("input", update);
      addEventListener("hashchange", () => { recall(); show() });
      addEventListener("keydown", event => {
        if (event.ctrlKey || event.metaKey || event.altKey) return;
        if (event.key === "/" && event.target !== $("search")) {
          event.preventDefault();
          $("search").select();
          $("search").focus();
        } else if (event.key === "Escape" && event.target === $("search")) {
          $("search").value = "";
          update();
        }
      });
      recall();
      show();
    }

    """#
}
