extension PageScript {
  /// The buttons, the clock's face and the guides over the picture.
  static let controls = #"""
    const bar = $("bar");
    const press = (id, action) => { if ($(id)) $(id).addEventListener("click", action) };
    /// Shows a button's other drawing and name.
    const turn = (button, isOther) => {
      const path = button.querySelector("path");
      if (!button.dataset.first) button.dataset.first = path.getAttribute("d");
      path.setAttribute("d", isOther ? button.dataset.other : button.dataset.first);
    };
    const rename = (button, name, key) => {
      button.setAttribute("aria-label", name);
      button.title = `${name} (${key})`;
    };
    const isPlaying = () => shuttle !== 0 || Boolean(video) && !video.paused;
    const toggle = () => { if (isPlaying()) pause(); else play(1) };
    const mute = () => {
      if (!video || $("mute").disabled) return;
      video.muted = !video.muted;
      turn($("mute"), video.muted);
      rename($("mute"), video.muted ? "Sound on" : "Mute", "M");
    };
    const whole = () => {
      const done = document.fullscreenElement
        ? document.exitFullscreen() : $("player").requestFullscreen();
      done.catch(error => { notice.textContent = error.message; notice.hidden = false });
    };
    const showKeys = () => $("keys").showModal();

    const guides = $("guides");
    const drawGuide = kind => {
      guides.replaceChildren();
      if (!kind) return;
      const width = $("picture").clientWidth, height = $("picture").clientHeight;
      const space = "http://www.w3.org/2000/svg";
      const make = (parent, tag, attributes) => {
        const element = parent.appendChild(document.createElementNS(space, tag));
        for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
        return element;
      };
      const drawing = make(guides, "svg", {
        viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: "none", "aria-hidden": "true" });
      const box = (wide, high) => {
        const x = (width - wide) / 2, y = (height - high) / 2;
        make(drawing, "rect", { class: "line", x, y, width: wide, height: high });
        return `M${x} ${y}h${wide}v${high}h${-wide}z`;
      };
      if (kind === "safe") {
        // EBU R 95: 93 % for action, 90 % for graphics.
        box(width * .93, height * .93);
        box(width * .9, height * .9);
        return;
      }
      const [over, under] = kind.split(":").map(Number), ratio = over / under;
      const inner = box(Math.min(width, height * ratio), Math.min(height, width / ratio));
      make(drawing, "path", {
        class: "veil", "fill-rule": "evenodd", d: `M0 0h${width}v${height}h${-width}z${inner}` });
    };

    if (bar && length > 0) {
      bar.hidden = false;
      press("play", toggle);
      press("back", () => stepBy(-1));
      press("forward", () => stepBy(1));
      press("mute", mute);
      press("whole", whole);
      press("help", showKeys);
      if (video) $("picture").addEventListener("click", toggle);
      if ($("volume")) $("volume").addEventListener("input", event => {
        if (!video) return;
        video.volume = Number(event.target.value);
        if (video.muted) mute();
      });
      $("guide").addEventListener("change", event => drawGuide(event.target.value));
      new ResizeObserver(() => drawGuide($("guide").value)).observe($("picture"));
      const total = Number.isFinite(frames) ? frames : null;
      let wasPlaying = null;
      watchers.push(time => {
        $("clock").textContent = label(time);
        const frame = Number.isNaN(rate) || track.variable_frame_rate ? "" : `frame ${frameAt(time).toLocaleString("en")}`;
        const end = timecode ? elapsed(time) : `of ${elapsed(length)}`;
        $("count").textContent = [end, frame].filter(Boolean).join(" · ")
          + (timecode && total ? ` of ${total.toLocaleString("en")}` : "");
        $("speed").hidden = shuttle === 0 || shuttle === 1;
        $("speed").textContent = `${shuttle < 0 ? "−" : ""}${Math.abs(shuttle)}×`;
        if (!$("play") || wasPlaying === isPlaying()) return;
        wasPlaying = isPlaying();
        turn($("play"), wasPlaying);
        rename($("play"), wasPlaying ? "Pause" : "Play", "Space");
      });
    }

    const copy = $("copy");
    copy.hidden = false;
    copy.addEventListener("click", async () => {
      const text = $("digest").textContent;
      const select = () => {
        // Over plain HTTP from another machine there is no clipboard to write to.
        getSelection().selectAllChildren($("digest"));
        return document.execCommand("copy");
      };
      let isCopied = false;
      try {
        await navigator.clipboard.writeText(text);
        isCopied = true;
      } catch {
        isCopied = select();
      }
      $("copied").textContent = isCopied ? "Copied" : "Press Ctrl-C to copy";
    });

    """#
}
