/// The scripts, in parts that share one scope; `PageShell` puts them into a function.
///
/// The review page's: the clock, then what shows a moment, then the timeline, buttons and keys.
enum PageScript {
  /// Times, frames and timecode.
  static let clock = #"""
    const $ = id => document.getElementById(id);
    const facts = JSON.parse($("facts").textContent);
    const track = facts.video[0] || {};
    const clamp = (value, low, high) => Math.min(Math.max(value, low), high);
    const pad = number => String(number).padStart(2, "0");

    /// Frames a second; NaN where nobody knows.
    const rate = (() => {
      const [over, under] = (track.nominal_frame_rate || "").split("/").map(Number);
      const meant = over / (under || 1);
      const value = meant > 0 && meant < 1000 ? meant : track.frame_rate;
      return value > 0 && value < 1000 ? value : NaN;
    })();
    /// Seconds of one step.
    const step = 1 / (rate || 25);
    /// A frame has a number only where all are of one length and as many as they should be.
    const frames = track.frame_count > 0 && !track.variable_frame_rate
      && Math.abs(track.frame_count / rate - facts.duration) < 2 * step ? track.frame_count : Infinity;
    // A twentieth of a frame for what is lost in rounding.
    const frameAt = time => clamp(Math.floor(time * rate + .05), 0, frames - 1);

    const timecode = (() => {
      const parts = /^(\d\d):(\d\d):(\d\d)([:;.])(\d\d)$/.exec(facts.timecode || "");
      const base = Math.round(rate);
      if (!parts || !base) return null;
      // SMPTE ST 12-1: two numbers (four at 60) are left out each minute but every tenth.
      const dropped = parts[4] !== ":" && base % 30 === 0 ? base / 15 : 0;
      const minute = base * 60 - dropped, ten = base * 600 - dropped * 9;
      const [hours, minutes, seconds, first] = [1, 2, 3, 5].map(index => Number(parts[index]));
      const passed = hours * 60 + minutes;
      const start = (passed * 60 + seconds) * base + first
        - dropped * (passed - Math.floor(passed / 10));
      return frame => {
        let number = (start + frame) % (ten * 144);
        const rest = number % ten;
        number += dropped * 9 * Math.floor(number / ten);
        if (rest > dropped) number += dropped * Math.floor((rest - dropped) / minute);
        const whole = Math.floor(number / base);
        return `${pad(Math.floor(whole / 3600))}:${pad(Math.floor(whole / 60) % 60)}:`
          + `${pad(whole % 60)}${dropped ? ";" : ":"}${pad(number % base)}`;
      };
    })();

    /// `1:02:03.04`
    const elapsed = time => {
      const hundredths = Math.max(0, Math.round(time * 100));
      const [hours, minutes] = [Math.floor(hundredths / 360000), Math.floor(hundredths / 6000) % 60];
      const start = hours ? `${hours}:${pad(minutes)}` : String(minutes);
      return `${start}:${pad(Math.floor(hundredths / 100) % 60)}.${pad(hundredths % 100)}`;
    };
    /// The timecode where there is one, else the time from the beginning.
    const label = time => timecode ? timecode(frameAt(time)) : elapsed(time);

    """#
}
