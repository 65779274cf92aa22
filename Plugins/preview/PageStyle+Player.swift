extension PageStyle {
  /// The player: dark in both schemes, as players are.
  ///
  /// `--ratio`, the picture's width by its height, comes from the page.
  static let player = #"""
    .player {
      --card: #1a1a1b; --raised: #2c2c2f; --line: #3a3a3e; --edge: #7d7d83; --text: #ececee;
      --quiet: #a6a6ad; --accent: #7db7ff; --problem: #ff8f80; --warning: #f5bf4f; --info: #8ec5ff;
      color-scheme: dark; background: var(--card); color: var(--text); overflow: clip;
      border: 1px solid var(--line); border-radius: var(--radius); display: flex;
      flex-direction: column
    }
    .stage { background: #000; display: grid; place-items: center; flex: 1; min-height: 0 }
    .picture {
      position: relative; aspect-ratio: var(--ratio);
      width: min(100%, calc(min(66vh, 56rem) * var(--ratio)))
    }
    .picture > video, .picture > img { width: 100%; height: 100%; object-fit: contain }
    .tile { background-repeat: no-repeat }
    .picture > .tile, .guides, .guides > * { position: absolute; inset: 0 }
    .guides { pointer-events: none; width: 100%; height: 100%; overflow: hidden }
    .guides .line { fill: none; stroke: #fff; stroke-opacity: .75; vector-effect: non-scaling-stroke }
    .guides .veil { fill: #000; fill-opacity: .55 }
    .notice {
      position: absolute; inset: auto 0 0 0; padding: .5rem .75rem; font-size: .8125rem;
      background: rgb(0 0 0 / .72); color: #fff; text-align: center
    }
    .strip {
      position: relative; height: 4.25rem; margin: .625rem .75rem 0; cursor: pointer;
      touch-action: pan-y; user-select: none; -webkit-user-select: none
    }
    .strip .rail {
      position: absolute; inset: .75rem 0 0 0; background: #0c0c0d; border-radius: 4px;
      overflow: hidden; border: 1px solid var(--line)
    }
    .strip.quiet { height: 2.25rem }
    .rail img { position: absolute; width: 100%; height: 100%; opacity: .85 }
    .rail .done { position: absolute; inset: 0 100% 0 0; background: rgb(125 183 255 / .2) }
    .strip .marks { position: absolute; inset: 0 0 auto 0; height: .625rem }
    .marks i {
      position: absolute; top: .0625rem; height: .5rem; min-width: .3125rem; border-radius: 2px
    }
    .marks i.info { background: var(--info) }
    .marks i.warning { background: var(--warning); border-radius: 2px; clip-path: none }
    .marks i.problem { background: var(--problem) }
    .rail .zone { position: absolute; top: 0; bottom: 0; opacity: .22; min-width: 1px }
    .zone.info { background: var(--info) }
    .zone.warning { background: var(--warning) }
    .zone.problem { background: var(--problem) }
    .rail .chapter { position: absolute; top: 0; bottom: 0; width: 1px; background: var(--edge) }
    .head-line {
      position: absolute; top: .5rem; bottom: -.125rem; width: 2px; margin-left: -1px;
      background: #fff; pointer-events: none; box-shadow: 0 0 0 1px rgb(0 0 0 / .6)
    }
    .head-line::before {
      content: ""; position: absolute; left: -4px; top: -4px; width: 10px; height: 8px;
      background: #fff; clip-path: polygon(0 0, 100% 0, 50% 100%)
    }
    .hover-line {
      position: absolute; top: .75rem; bottom: 0; width: 1px; background: rgb(255 255 255 / .6);
      pointer-events: none
    }
    .peek {
      position: absolute; bottom: calc(100% + .25rem); z-index: 3; pointer-events: none;
      background: #000; border: 1px solid var(--edge); border-radius: 8px; overflow: hidden;
      box-shadow: 0 8px 24px rgb(0 0 0 / .5); width: max-content; max-width: 18rem; min-width: 7rem
    }
    .peek .tile {
      width: min(12rem, calc(10rem * var(--tile-ratio))); aspect-ratio: var(--tile-ratio);
      margin: 0 auto
    }
    .peek p { padding: .25rem .5rem; font: .75rem/1.4 var(--mono); text-align: center }
    .peek p + p { padding-top: 0; font-family: var(--sans); white-space: normal; max-width: 12rem }
    .bar {
      display: flex; flex-wrap: wrap; align-items: center; gap: .25rem .5rem; padding: .5rem .75rem
    }
    .bar .group { display: flex; align-items: center; gap: .125rem; border: 0; padding: 0 }
    .key {
      display: grid; place-items: center; width: 2.25rem; height: 2.25rem; padding: 0;
      border: 0; border-radius: 8px; background: none; cursor: pointer; color: var(--text)
    }
    .key:hover { background: var(--raised) }
    .key:disabled { color: #6c6c72; cursor: default; background: none }
    .key#play { background: var(--raised) }
    .key#play:hover { background: #3a3a3e }
    .clock { display: flex; align-items: baseline; gap: .25rem .75rem; margin-right: auto }
    .clock output { font: 600 1.1875rem/1.2 var(--mono); white-space: nowrap }
    .clock span { color: var(--quiet); font-size: .8125rem; white-space: nowrap }
    .bar select {
      height: 2.25rem; max-width: 10rem; padding: 0 .5rem; background: var(--raised);
      border: 1px solid var(--line); border-radius: 8px; font-size: .8125rem
    }
    .bar input[type=range] { width: 5rem; accent-color: var(--accent) }
    .player:fullscreen { border: 0; border-radius: 0 }
    .player:fullscreen .picture { width: min(100%, calc((100vh - 9rem) * var(--ratio))) }
    dialog {
      background: var(--card); color: var(--text); border: 1px solid var(--edge);
      border-radius: var(--radius); padding: 1.25rem; max-width: min(32rem, 92vw)
    }
    dialog::backdrop { background: rgb(0 0 0 / .6) }
    dialog .rows { margin: .75rem 0 1rem }
    kbd {
      font: .8125rem/1.2 var(--mono); padding: .0625rem .375rem; border: 1px solid var(--edge);
      border-radius: 4px; background: var(--raised)
    }
    @media (max-width: 40rem) {
      .clock { flex: 1 0 100%; order: -1; justify-content: space-between }
      .bar input[type=range] { display: none }
      .bar .group:last-child { margin-left: auto }
      .key { width: 2.5rem; height: 2.5rem }
      .key#help { display: none }
      .bar select { max-width: 7rem }
      .peek .tile { width: min(9rem, calc(7rem * var(--tile-ratio))) }
    }
    """#
}
