/// The drawings on buttons, 24 units wide.
enum PageIcon: String {
  case play = "M7 4.5v15L20 12z"
  case pause = "M7 5h3.5v14H7zM13.5 5H17v14h-3.5z"
  case back = "M15 5l-8 7 8 7z"
  case forward = "M9 5l8 7-8 7z"
  case sound = "M4 9.5v5h3.5L12 18.5v-13L7.5 9.5zM15.5 9a4.2 4.2 0 010 6M18 6.5a8 8 0 010 11"
  case muted = "M4 9.5v5h3.5L12 18.5v-13L7.5 9.5zM16 9.5l5 5M21 9.5l-5 5"
  case whole = "M4 9V4h5M15 4h5v5M20 15v5h-5M9 20H4v-5"
  case keyboard = "M3 6.5h18v11H3zM7 10h.01M11 10h.01M15 10h.01M17.5 13.5h.01M6.5 13.5h.01M9.5 14h5"
  case arrow = "M19 12H5M11 6l-6 6 6 6"
  case down = "M12 4v11M7 11l5 5 5-5M5 20h14"
  case copy = "M9 9h11v11H9zM5 15H4V4h11v1"
  case find = "M10.5 4a6.5 6.5 0 110 13 6.5 6.5 0 010-13zM15.5 15.5L20 20"
  case film = "M4 5h16v14H4zM8.5 5v14M15.5 5v14M4 9.7h4.5M4 14.3h4.5M15.5 9.7H20M15.5 14.3H20"

  /// The drawing; screen readers do not see it.
  var drawing: PageMarkup {
    let isSolid = [Self.play, .pause, .back, .forward].contains(self)
    return """
      <svg class="icon\(isSolid ? " solid" : "")" viewBox="0 0 24 24" aria-hidden="true">\
      <path d="\(rawValue)"/></svg>
      """
  }
}
