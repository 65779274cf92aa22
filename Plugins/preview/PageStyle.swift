/// The style sheets, in parts that the pages put together.
enum PageStyle {
  /// Colours, type and what both pages have in common.
  ///
  /// Greys without a tint, so that they do not change how the picture's colours look.
  static let base = #"""
    :root {
      color-scheme: dark light;
      --page: #131314; --card: #1c1c1e; --raised: #29292c; --line: #38383b; --edge: #7d7d83;
      --text: #ececee; --quiet: #a6a6ad; --accent: #7db7ff; --on-accent: #08203d;
      --problem: #ff8f80; --warning: #f5bf4f; --info: #8ec5ff; --good: #6fd39b;
      --problem-wash: #3b1f1c; --warning-wash: #352a12; --info-wash: #1b2b3d; --good-wash: #16301f;
      --radius: 10px; --gap: 1rem;
      --sans: system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "DejaVu Sans", sans-serif;
      --mono: ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace;
    }
    @media (prefers-color-scheme: light) {
      :root:not(.dark) {
        --page: #f4f4f5; --card: #ffffff; --raised: #ececee; --line: #dcdcdf; --edge: #85858c;
        --text: #18181a; --quiet: #5c5c63; --accent: #0a58ca; --on-accent: #ffffff;
        --problem: #b3261e; --warning: #805300; --info: #0a58ca; --good: #176d3f;
        --problem-wash: #fdeceb; --warning-wash: #fdf3da; --info-wash: #e8f0fd;
        --good-wash: #e5f5ec;
      }
    }
    * { box-sizing: border-box }
    html { -webkit-text-size-adjust: 100%; text-size-adjust: 100% }
    body {
      margin: 0; background: var(--page); color: var(--text);
      font: .9375rem/1.5 var(--sans); font-variant-numeric: tabular-nums;
    }
    h1, h2, h3, p, dl, dd, ul, ol, figure { margin: 0; padding: 0 }
    h1, h2, h3 { line-height: 1.25; font-weight: 600; text-wrap: balance }
    h1 { font-size: clamp(1.25rem, 1rem + 1.2vw, 1.75rem); overflow-wrap: anywhere }
    h2 { font-size: 1rem }
    h3 { font-size: .8125rem; color: var(--quiet) }
    ul, ol { list-style: none }
    img, video, svg { display: block; max-width: 100% }
    a { color: var(--accent); text-underline-offset: .2em }
    [hidden] { display: none !important }
    button, input, select { font: inherit; color: inherit }
    :focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 4px }
    .skip { position: absolute; left: -999rem }
    .skip:focus {
      left: var(--gap); top: .5rem; z-index: 9; background: var(--card); padding: .5rem 1rem
    }
    .unseen {
      position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%);
      white-space: nowrap
    }
    .wrap { width: 100%; max-width: 110rem; margin: 0 auto; padding: 0 clamp(.75rem, 2vw, 2rem) }
    .top { border-bottom: 1px solid var(--line); background: var(--card) }
    .top .wrap { display: flex; align-items: center; gap: 1rem; min-height: 3.25rem }
    .icon {
      width: 1.125rem; height: 1.125rem; flex: none; fill: none; stroke: currentColor;
      stroke-width: 2; stroke-linecap: round; stroke-linejoin: round
    }
    .icon.solid { fill: currentColor; stroke: none }
    .button {
      display: inline-flex; align-items: center; justify-content: center; gap: .5rem;
      min-height: 2.25rem; padding: .25rem .75rem; cursor: pointer; text-decoration: none;
      color: var(--text); background: var(--raised); white-space: nowrap;
      border: 1px solid var(--line); border-radius: 8px; font-size: .875rem; font-weight: 500;
    }
    .button:hover { border-color: var(--edge) }
    .button.plain { background: none; border-color: transparent; padding-inline: .5rem }
    .button.plain:hover { background: var(--raised) }
    .badges { display: flex; flex-wrap: wrap; gap: .375rem }
    .badges:empty { display: none }
    .badge {
      display: inline-flex; align-items: center; gap: .3rem; padding: .0625rem .5rem;
      border-radius: 99px; font-size: .75rem; font-weight: 600; line-height: 1.5;
      color: var(--quiet); background: var(--raised); white-space: nowrap
    }
    .badge.problem { color: var(--problem); background: var(--problem-wash) }
    .badge.warning { color: var(--warning); background: var(--warning-wash) }
    .badge.info { color: var(--info); background: var(--info-wash) }
    .badge.good { color: var(--good); background: var(--good-wash) }
    @media (prefers-reduced-motion: no-preference) {
      .button, .card { transition: border-color .12s, background-color .12s }
    }
    @media (prefers-reduced-motion: reduce) {
      * { scroll-behavior: auto !important; animation: none !important; transition: none !important }
    }
    @media (forced-colors: active) { .badge, .button { border: 1px solid } }
    """#
}
