/// The style sheet of the index page, after `PageStyle.base`.
enum IndexStyle {
  static let grid = #"""
    .top h1 { font-size: 1.125rem }
    .count { color: var(--quiet); font-size: .875rem }
    .tools {
      position: sticky; top: 0; z-index: 2; background: var(--page); padding: .75rem 0;
      display: grid; gap: .625rem; grid-template-columns: minmax(0, 1fr) auto
    }
    .search { position: relative; display: block }
    .search .icon { position: absolute; left: .75rem; top: .75rem; color: var(--quiet) }
    .search input {
      width: 100%; height: 2.625rem; padding: 0 .75rem 0 2.375rem; background: var(--card);
      border: 1px solid var(--edge); border-radius: 8px; text-overflow: ellipsis
    }
    .search input::placeholder { color: var(--quiet); opacity: 1 }
    .sort { display: flex; align-items: center; gap: .5rem; color: var(--quiet) }
    .sort select {
      height: 2.625rem; padding: 0 .625rem; background: var(--card); color: var(--text);
      border: 1px solid var(--edge); border-radius: 8px
    }
    .filters {
      grid-column: 1 / -1; display: flex; flex-wrap: wrap; gap: .375rem; border: 0; margin: 0;
      padding: 0; min-width: 0
    }
    .filters:empty { display: none }
    .filter { position: relative; cursor: pointer }
    .filter input { position: absolute; inset: 0; opacity: 0; margin: 0; cursor: pointer }
    .filter span {
      display: block; padding: .25rem .75rem; border: 1px solid var(--line); border-radius: 99px;
      background: var(--card); font-size: .8125rem; font-weight: 500; white-space: nowrap
    }
    .filter small { color: var(--quiet); font-size: .75rem; margin-left: .125rem }
    .filter:hover span { border-color: var(--edge) }
    .filter input:checked + span {
      background: var(--accent); border-color: var(--accent); color: var(--on-accent)
    }
    .filter input:checked + span small { color: inherit }
    .filter input:focus-visible + span { outline: 2px solid var(--accent); outline-offset: 2px }
    .cards {
      display: grid; gap: 1rem; padding: .25rem 0 2rem;
      grid-template-columns: repeat(auto-fill, minmax(min(100%, 15.5rem), 1fr))
    }
    .card {
      position: relative; background: var(--card); border: 1px solid var(--line); min-width: 0;
      border-radius: var(--radius); padding-bottom: .75rem; display: grid; gap: .125rem;
      align-content: start; content-visibility: auto; contain-intrinsic-size: auto 17rem
    }
    .card:hover { border-color: var(--edge) }
    .card:focus-within { border-color: var(--accent) }
    .card > *:not(a) { padding-inline: .75rem }
    .card a { color: inherit; text-decoration: none; display: block }
    .card a::after { content: ""; position: absolute; inset: 0; border-radius: var(--radius) }
    .card a:focus-visible { outline: none }
    .card a:focus-visible::after { outline: 2px solid var(--accent); outline-offset: -2px }
    .thumb {
      position: relative; display: block; aspect-ratio: 16 / 9; background: #000;
      border-radius: calc(var(--radius) - 1px) calc(var(--radius) - 1px) 0 0; overflow: hidden
    }
    .thumb img { width: 100%; height: 100%; object-fit: contain }
    .length {
      position: absolute; right: .5rem; bottom: .5rem; padding: 0 .375rem; border-radius: 4px;
      background: #000c; color: #fff; font-size: .75rem; font-weight: 600; line-height: 1.6
    }
    .name {
      display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 3; overflow: hidden;
      margin: .625rem .75rem 0; font-weight: 600; line-height: 1.35; overflow-wrap: anywhere
    }
    .card p { color: var(--quiet); font-size: .8125rem }
    .card .badges { margin-top: .5rem }
    .card .badges:empty { display: none }
    .empty { padding: 4rem 1rem; text-align: center; color: var(--quiet); font-size: 1rem }
    footer { color: var(--quiet); font-size: .8125rem; padding: 0 0 2rem }
    @media (max-width: 40rem) {
      .tools { grid-template-columns: minmax(0, 1fr); position: static }
      .sort select { flex: 1 }
      .cards { grid-template-columns: repeat(auto-fill, minmax(min(100%, 10.5rem), 1fr)); gap: .75rem }
    }
    """#
}
