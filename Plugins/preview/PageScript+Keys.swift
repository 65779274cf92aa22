extension PageScript {
  /// The keyboard, as in an editing program; the last part.
  static let keys = #"""
    const faster = direction => {
      const speed = Math.abs(shuttle);
      const isSame = Math.sign(shuttle) === direction;
      if (!video) return stepBy(direction);
      play(direction * (isSame ? Math.min(8, speed * 2) : 1));
    };
    const nextFinding = direction => {
      const starts = [...new Set(timed.map(finding => finding.start))].sort((a, b) => a - b);
      const next = direction > 0
        ? starts.find(start => start > position + step)
        : starts.reverse().find(start => start < position - step);
      if (next === undefined) return;
      pause();
      if (Number.isNaN(rate)) seek(next); else seekFrame(frameAt(next));
    };
    const jump = seconds => { const was = shuttle; seek(position + seconds); shuttle = was };
    const actions = {
      " ": toggle, k: toggle, j: () => faster(-1), l: () => faster(1),
      ",": () => stepBy(-1), ".": () => stepBy(1),
      ArrowLeft: event => jump(event.shiftKey ? -10 : -1),
      ArrowRight: event => jump(event.shiftKey ? 10 : 1),
      ArrowUp: () => nextFinding(-1), ArrowDown: () => nextFinding(1),
      Home: () => { pause(); seek(0) },
      End: () => { pause(); if (Number.isNaN(rate)) seek(length); else seekFrame(Infinity) },
      m: mute, f: whole, "?": showKeys,
    };
    if (bar && length > 0) addEventListener("keydown", event => {
      if (event.ctrlKey || event.metaKey || event.altKey || $("keys").open) return;
      const target = event.target;
      const isField = target.matches("select, input, textarea");
      const isButton = target.matches("button, a[href], summary");
      const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
      // These have a meaning of their own there.
      if (isField && (key === " " || key.startsWith("Arrow") || key === "Home" || key === "End")) return;
      if (isButton && key === " ") return;
      if (!Object.hasOwn(actions, key)) return;
      // Up and down scroll the page, unless there is something to find.
      if ((key === "ArrowUp" || key === "ArrowDown") && timed.length === 0) return;
      event.preventDefault();
      actions[key](event);
    });
    changed();
    if (video && video.readyState < 1)
      video.addEventListener("loadedmetadata", () => follow(false), { once: true });
    else follow(false);

    """#
}
