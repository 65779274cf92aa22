extension PageScript {
  /// What shows a moment: the proxy, or stills from the storyboard where there is none that plays.
  static let screen = #"""
    const still = $("still"), board = facts.storyboard, notice = $("notice");
    let video = $("video");
    let length = facts.duration > 0 ? facts.duration : board ? board.interval * board.count : 0;
    let position = 0, shuttle = 0, turned = 0;
    // What was asked for and is not shown yet, and what the video is on its way to.
    let wanted = null, asked = null;
    const watchers = [];
    const changed = () => { for (const watcher of watchers) watcher(position) };
    const address = name => `./${encodeURIComponent(name)}`;

    const tileAt = time => clamp(Math.floor(time / board.interval + 1e-6), 0, board.count - 1);
    /// Puts the storyboard's picture of a time into an element.
    const showTile = (element, time) => {
      const full = board.columns * board.rows, tile = tileAt(time);
      const sheet = board.sheets[Math.min(Math.floor(tile / full), board.sheets.length - 1)];
      const columns = Math.max(1, Math.round(sheet.width / board.tile_width));
      const rows = Math.max(1, Math.round(sheet.height / board.tile_height));
      const column = tile % full % board.columns, row = Math.floor(tile % full / board.columns);
      const place = (index, count) => count > 1 ? `${index / (count - 1) * 100}%` : "0%";
      element.style.backgroundImage = `url("${address(sheet.name)}")`;
      element.style.backgroundSize = `${columns * 100}% ${rows * 100}%`;
      element.style.backgroundPosition = `${place(column, columns)} ${place(row, rows)}`;
    };

    const useStills = text => {
      video = null;
      shuttle = 0;
      notice.textContent = text;
      notice.hidden = false;
      for (const id of ["play", "mute", "volume"]) if ($(id)) $(id).disabled = true;
      if (board) { showTile(still, position); still.hidden = false }
      changed();
    };

    /// One at a time: the last one that was asked for follows. The event of a seek may come when the
    /// next is on its way already, and a seek within a seek may be lost.
    const pursue = () => {
      if (!video || video.seeking || wanted === null) return;
      if (asked === wanted) { wanted = asked = null; return }
      asked = wanted;
      video.currentTime = wanted;
    };
    const seek = time => {
      position = clamp(time, 0, Math.max(0, length));
      if (video) {
        wanted = position;
        if (!video.seeking) asked = null;
        pursue();
      } else if (board) {
        showTile(still, position);
        still.hidden = false;
      }
      changed();
    };
    /// To the middle of a frame, so that rounding shows no other.
    const seekFrame = frame => {
      const last = Math.min(frames - 1, Math.max(0, Math.ceil(length * rate - .05) - 1));
      seek(Number.isNaN(rate) ? frame * step : (clamp(frame, 0, last) + .5) / rate);
    };
    const stepBy = count => {
      pause();
      if (!video && board) return seek((tileAt(position) + count + .5) * board.interval);
      if (Number.isNaN(rate)) return seek(position + count * step);
      seekFrame(frameAt(position) + count);
    };

    const pause = () => { shuttle = 0; if (video) video.pause(); changed() };
    const play = speed => {
      if (!video) return;
      shuttle = speed;
      if (speed > 0) {
        if (video.ended || position >= length - step / 2) seek(0);
        video.playbackRate = speed;
        video.play().catch(() => pause());
      } else {
        video.pause();
        turned = performance.now();
        requestAnimationFrame(rewind);
      }
      changed();
    };
    /// No browser plays backwards: one picture after the other, as fast as they come.
    const rewind = now => {
      if (shuttle >= 0 || !video) return;
      if (!video.seeking) {
        seek(position + shuttle * (now - turned) / 1000);
        turned = now;
      }
      if (position > 0) requestAnimationFrame(rewind); else pause();
    };

    if (video) {
      video.controls = false;
      const took = time => { if (video && wanted === null) { position = time; changed() } };
      video.addEventListener("loadedmetadata", () => {
        // Sound or picture may go on after the proxy's end: the findings and the waveform do.
        const end = video.duration;
        if (Number.isFinite(end) && end > 0 && !(length > end + .25)) length = end;
        changed();
      });
      video.addEventListener("seeked", pursue);
      video.addEventListener("timeupdate", pursue);
      video.addEventListener("ended", () => { shuttle = 0; took(length) });
      video.addEventListener("pause", () => { if (shuttle > 0) shuttle = 0; changed() });
      video.addEventListener("error", () => useStills(
        board ? "This browser cannot play the proxy: stills only." : "This browser cannot play the proxy."));
      if (video.error) video.dispatchEvent(new Event("error"));
      const presented = (_, frame) => {
        if (!video) return;
        if (!video.paused) took(frame.mediaTime);
        video.requestVideoFrameCallback(presented);
      };
      if (video.requestVideoFrameCallback) video.requestVideoFrameCallback(presented);
      else video.addEventListener("timeupdate", () => { if (!video.paused) took(video.currentTime) });
      if (video.readyState >= 1) video.dispatchEvent(new Event("loadedmetadata"));
    }

    """#
}
