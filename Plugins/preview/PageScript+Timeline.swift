extension PageScript {
  /// The timeline: position, hovering, dragging, and the findings on it and in their list.
  static let timeline = #"""
    const strip = $("strip"), rail = $("rail"), marks = $("marks"), peek = $("peek");
    const findings = facts.findings || [];
    const timed = findings.filter(finding => finding.start != null);
    const part = time => length > 0 ? clamp(time / length, 0, 1) : 0;
    const percent = time => `${(part(time) * 100).toFixed(3)}%`;
    const findingAt = time => timed.find(finding =>
      time >= finding.start - step / 2 && time < Math.max(finding.end || 0, finding.start + step));

    const drawMarks = () => {
      marks.replaceChildren();
      for (const old of rail.querySelectorAll(".zone, .chapter")) old.remove();
      const add = (parent, tag, kind, start, end) => {
        const element = parent.appendChild(document.createElement(tag));
        element.className = kind;
        element.style.left = percent(start);
        if (end > start) element.style.width = `${((part(end) - part(start)) * 100).toFixed(3)}%`;
        return element;
      };
      // More than these would be one line anyway.
      for (const finding of timed.slice(0, 1000)) {
        add(marks, "i", finding.severity, finding.start, finding.end).dataset.at = finding.start;
        if (finding.end > finding.start)
          add(rail, "div", `zone ${finding.severity}`, finding.start, finding.end);
      }
      for (const chapter of (facts.chapters || []).slice(0, 500))
        if (chapter.start > 0) add(rail, "div", "chapter", chapter.start);
    };

    const timeUnder = event => {
      const box = strip.getBoundingClientRect();
      return clamp((event.clientX - box.left) / box.width, 0, 1) * length;
    };
    const showPeek = time => {
      $("hover").style.left = percent(time);
      $("hover").hidden = false;
      peek.hidden = false;
      if (board) showTile($("peek-tile"), time);
      $("peek-tile").hidden = !board;
      $("peek-time").textContent = label(time);
      const finding = findingAt(time);
      $("peek-finding").hidden = !finding;
      $("peek-finding").textContent = finding ? finding.text : "";
      const width = peek.offsetWidth, room = strip.clientWidth;
      peek.style.left = `${clamp(part(time) * room - width / 2, 0, Math.max(0, room - width))}px`;
    };
    const hidePeek = () => { peek.hidden = true; $("hover").hidden = true };

    if (strip && length > 0) {
      let dragging = false, resumed = false;
      strip.hidden = false;
      drawMarks();
      let drawn = length;
      strip.addEventListener("pointerdown", event => {
        if (event.button !== 0) return;
        strip.setPointerCapture(event.pointerId);
        dragging = true;
        resumed = Boolean(video) && !video.paused && shuttle > 0;
        if (video) video.pause();
        const mark = event.target.dataset && event.target.dataset.at;
        const time = mark === undefined ? timeUnder(event) : Number(mark);
        showPeek(time);
        seek(time);
      });
      strip.addEventListener("pointermove", event => {
        const mark = event.target.dataset && event.target.dataset.at;
        showPeek(!dragging && mark !== undefined ? Number(mark) : timeUnder(event));
        if (dragging) seek(timeUnder(event));
      });
      const end = event => {
        if (dragging && resumed) play(1);
        dragging = false;
        if (event.type !== "pointerup" || event.pointerType !== "mouse") hidePeek();
      };
      strip.addEventListener("pointerup", end);
      strip.addEventListener("pointercancel", end);
      strip.addEventListener("pointerleave", () => { if (!dragging) hidePeek() });
      watchers.push(time => {
        if (drawn !== length) { drawn = length; drawMarks() }
        $("playhead").style.left = percent(time);
        $("done").style.right = `${100 - part(time) * 100}%`;
        strip.setAttribute("aria-valuemax", length.toFixed(2));
        strip.setAttribute("aria-valuenow", time.toFixed(2));
        strip.setAttribute("aria-valuetext", label(time));
      });
    }

    const rows = [...document.querySelectorAll("#findings li")];
    let current = null;
    watchers.push(time => {
      const finding = findingAt(time);
      const row = finding ? rows[findings.indexOf(finding)] : null;
      if (row === current) return;
      if (current) current.classList.remove("now");
      if (row) row.classList.add("now");
      current = row;
    });
    for (const link of document.querySelectorAll("a[data-at]")) {
      link.textContent = label(Number(link.dataset.at));
      link.addEventListener("click", event => {
        event.preventDefault();
        history.replaceState(null, "", link.hash);
        follow(true);
      });
    }
    /// `#t=12.5` leads to a moment, from a link of this page or of somebody's message.
    const follow = isNear => {
      const time = /^#t=(\d+(?:\.\d+)?)$/.exec(location.hash);
      if (!time || !(length > 0)) return;
      pause();
      if (Number.isNaN(rate)) seek(Number(time[1])); else seekFrame(frameAt(Number(time[1])));
      const player = $("player"), box = player.getBoundingClientRect();
      const behavior = matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth";
      if (isNear && box.top < 0) player.scrollIntoView({ block: "start", behavior });
    };
    addEventListener("hashchange", () => follow(true));

    """#
}
