extension PageStyle {
  /// The review page around its player.
  static let review = #"""
    .head { display: grid; gap: .5rem; padding: 1.25rem 0 1rem }
    .head .facts { display: flex; flex-wrap: wrap; gap: .125rem .625rem; color: var(--quiet) }
    .head .facts li:not(:last-child)::after { content: "·"; margin-left: .625rem }
    .head .name { overflow-wrap: anywhere }
    .columns { display: grid; gap: 1.25rem; padding-bottom: 3rem; grid-template-columns: 100% }
    .columns > * { display: grid; gap: 1.25rem; align-content: start; min-width: 0 }
    @media (min-width: 70rem) {
      .columns { grid-template-columns: minmax(0, 1fr) 23rem }
    }
    .panel {
      background: var(--card); border: 1px solid var(--line); border-radius: var(--radius);
      min-width: 0
    }
    .panel > h2, .panel > .title {
      display: flex; align-items: center; gap: .5rem; padding: .75rem 1rem;
      border-bottom: 1px solid var(--line)
    }
    .title h2 { flex: 1 }
    .panel .body { padding: 1rem; display: grid; gap: 1rem }
    .sheet { display: block; background: #000; border-radius: 0 0 var(--radius) var(--radius) }
    .sheet img {
      max-height: 90vh; width: auto; height: auto; margin: 0 auto;
      border-radius: 0 0 var(--radius) var(--radius)
    }
    .findings li {
      display: grid; grid-template-columns: auto 1fr auto; gap: .125rem .625rem;
      padding: .625rem 1rem; align-items: start; border-bottom: 1px solid var(--line)
    }
    .findings li:last-child { border-bottom: 0 }
    .findings .mark { width: .625rem; height: .625rem; border-radius: 50%; margin-top: .45em }
    .mark.problem { background: var(--problem); border-radius: 2px }
    .mark.warning {
      background: var(--warning); border-radius: 0; clip-path: polygon(50% 0, 100% 100%, 0 100%)
    }
    .mark.info { background: var(--info) }
    .findings strong { font-weight: 600 }
    .findings p { overflow-wrap: anywhere }
    .findings .grade { color: var(--quiet); font-size: .8125rem }
    .findings .moment {
      font-family: var(--mono); font-size: .8125rem; padding: 0 .5rem; min-height: 2rem;
      align-self: center
    }
    .findings li.now { background: var(--raised) }
    .top .button { margin-left: -.5rem }
    .none { padding: .75rem 1rem; color: var(--good) }
    .rows { display: grid; grid-template-columns: minmax(6.5rem, auto) minmax(0, 1fr) }
    .rows dt { color: var(--quiet); padding: .25rem .75rem .25rem 0 }
    .rows dd { padding: .25rem 0; overflow-wrap: anywhere }
    .group + .group { border-top: 1px solid var(--line); padding-top: .875rem }
    .group h3 { margin-bottom: .25rem; text-transform: uppercase; letter-spacing: .05em }
    .digest { display: grid; gap: .5rem }
    .digest code {
      font: .8125rem/1.6 var(--mono); overflow-wrap: anywhere; background: var(--raised);
      border-radius: 6px; padding: .5rem .625rem; user-select: all
    }
    .links { display: flex; flex-wrap: wrap; gap: .5rem }
    .links small { color: var(--quiet); font-size: .8125rem; font-weight: 400 }
    .meter { width: 100%; height: auto; overflow: visible }
    .meter .rail { fill: var(--raised) }
    .meter .value { fill: var(--text) }
    .meter .target { stroke: var(--quiet); stroke-width: 1.5; stroke-dasharray: 3 2 }
    .meter text { fill: var(--quiet); font: 11px var(--sans) }
    .targets { width: 100%; border-collapse: collapse; font-size: .875rem }
    .targets th {
      text-align: left; font-weight: 400; color: var(--quiet); padding: .25rem .5rem .25rem 0
    }
    .targets td { text-align: right; padding: .25rem 0 }
    .targets tr + tr > * { border-top: 1px solid var(--line) }
    .targets .problem { color: var(--problem) }
    .targets .warning { color: var(--warning) }
    .targets .good { color: var(--good) }
    footer { color: var(--quiet); font-size: .8125rem; padding: 0 0 2rem }
    @media print { .player, .top { display: none } .columns { display: block } }
    """#
}
