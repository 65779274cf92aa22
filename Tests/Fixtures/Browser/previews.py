"""Opens previews in Debian's chromium, as people do, and says what is not right.

previews.py FOLDER TITLE: the folder that the preview plugin has filled, and the title of a video of 12 seconds
with a proxy, a timecode and a black stretch. Exit status 0 if all is right, else 1 and a line for each fault.
"""
import contextlib
import functools
import http.server
import pathlib
import re
import sys
import tempfile
import threading
import time
from playwright.sync_api import sync_playwright

folder, title = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2]
faults = []


def expect(holds, what):
    if not holds:
        faults.append(what)
        print("FAULT", what, flush=True)


def until(page, condition, what, within=20):
    """Waits until a JavaScript expression is true; the pages' policy forbids playwright's own way."""
    end = time.monotonic() + within
    while not page.evaluate(condition):
        if time.monotonic() > end:
            return expect(False, f"{what}: {page.url}")
        page.wait_for_timeout(20)


class Server(http.server.SimpleHTTPRequestHandler):
    """Answers ranges too, without which no browser seeks in a video."""

    def log_message(self, *_):
        pass

    def do_GET(self):
        wanted = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        path = pathlib.Path(self.translate_path(self.path))
        if not wanted or not path.is_file():
            return super().do_GET()
        whole = path.read_bytes()
        first = int(wanted[1])
        last = min(int(wanted[2] or len(whole) - 1), len(whole) - 1)
        self.send_response(206)
        self.send_header("Content-Type", self.guess_type(str(path)))
        self.send_header("Content-Range", f"bytes {first}-{last}/{len(whole)}")
        self.send_header("Content-Length", str(last - first + 1))
        self.send_header("Accept-Ranges", "bytes")
        self.end_headers()
        with contextlib.suppress(ConnectionError):
            self.wfile.write(whole[first:last + 1])


# The luminance and contrast of WCAG 2.1, over the colours that are painted.
CONTRAST = """() => {
  const parse = text => (text.match(/[\\d.]+/g) || [0, 0, 0, 0]).map(Number);
  const over = (front, back) => {
    const alpha = front[3] === undefined ? 1 : front[3];
    return [0, 1, 2].map(i => front[i] * alpha + back[i] * (1 - alpha));
  };
  const light = color => {
    const [r, g, b] = color.map(v => v / 255)
      .map(v => v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4);
    return .2126 * r + .7152 * g + .0722 * b;
  };
  const behind = element => {
    const layers = [];
    for (let at = element; at; at = at.parentElement) layers.push(parse(getComputedStyle(at).backgroundColor));
    return layers.reverse().reduce((back, front) => over(front, back), [255, 255, 255]);
  };
  const bad = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement, text = walker.currentNode.data.trim();
    if (!text || element.closest("script, .unseen, .skip, option, :disabled")) continue;
    if (!element.checkVisibility({ checkOpacity: true, checkVisibilityCSS: true })) continue;
    const style = getComputedStyle(element);
    const color = parse(element.closest("svg") ? style.fill : style.color), back = behind(element);
    const [a, b] = [light(over(color, back)), light(back)];
    const ratio = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
    const size = parseFloat(style.fontSize), isLarge = size >= 24 || size >= 18.66 && style.fontWeight >= 700;
    if (ratio < (isLarge ? 3 : 4.5)) bad.push(`${ratio.toFixed(2)} "${text.slice(0, 40)}"`);
  }
  return bad;
}"""

# What has no name for those who do not see it.
NAMELESS = """() => {
  const named = e => e.getAttribute("aria-label") || e.getAttribute("aria-labelledby")
    || e.textContent.trim() || e.querySelector("img[alt]:not([alt=''])") || e.labels && e.labels.length && e.labels[0].textContent.trim();
  const found = [...document.querySelectorAll("button, a[href], input, select, video, [role]")]
    .filter(e => e.checkVisibility() && !named(e)).map(e => e.outerHTML.slice(0, 100));
  const images = [...document.images].filter(e => !e.hasAttribute("alt")).map(e => e.src);
  const ids = [...document.querySelectorAll("[id]")].map(e => e.id);
  const twice = ids.filter((id, at) => ids.indexOf(id) !== at);
  return [...found, ...images, ...twice, ...(document.querySelectorAll("h1").length === 1 ? [] : ["no h1"])];
}"""


def watch(page, base):
    """Every error, and every request that leaves the folder, is a fault."""
    page.on("console", lambda m: m.type in ("error", "warning") and expect(False, f"console: {m.text}"))
    page.on("pageerror", lambda error: expect(False, f"script: {error}"))
    page.on("request", lambda r: expect(
        r.url.startswith((base, "data:")), f"request outside: {r.url}"))


def look(page, address):
    """What holds of every page, in both schemes and widths."""
    for scheme, width in (("dark", 1440), ("light", 1440), ("dark", 360), ("light", 390)):
        page.emulate_media(color_scheme=scheme)
        page.set_viewport_size({"width": width, "height": 900})
        page.goto(address)
        where = f"{address} {scheme} {width}"
        expect(page.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"scrolls: {where}")
        for line in page.evaluate(CONTRAST):
            expect(False, f"contrast {line}: {where}")
        for line in page.evaluate(NAMELESS):
            expect(False, f"no name: {line}: {where}")
    page.emulate_media(color_scheme="dark")
    page.set_viewport_size({"width": 1440, "height": 900})


TIME = "document.getElementById('video').currentTime"


def play(page, address):
    """The player of the video with a proxy, timecode and a black stretch."""
    page.goto(address)
    clock = lambda: page.inner_text("#clock")
    frame = lambda: int(re.search(r"frame ([\d,]+)", page.inner_text("#count"))[1].replace(",", ""))
    until(page, "document.getElementById('video').readyState >= 2", "the video loads")
    expect(clock() == "00:59:55;00", f"timecode at 0: {clock()}")
    page.keyboard.press("Space")
    until(page, f"{TIME} > .5", "it plays")
    page.keyboard.press("k")
    until(page, "document.getElementById('video').paused", "K pauses")
    page.keyboard.press("Home")
    expect(frame() == 0, f"Home: {frame()}")
    for _ in range(3):
        page.keyboard.press(".")
    page.keyboard.press(",")
    expect(frame() == 2, f"frame steps: {frame()}")
    page.keyboard.press("ArrowRight")
    expect(frame() in (31, 32, 33), f"a second on: {frame()}")
    page.keyboard.press("End")
    last = frame()
    expect(last >= 355, f"End: {last}")
    # 5 seconds and a drop-frame minute later: the numbers ;00 and ;01 are left out.
    expect(clock().startswith("01:00:0"), f"timecode at the end: {clock()}")
    until(page, f"!document.getElementById('video').seeking && {TIME} > 11", "End is shown")
    page.keyboard.press("j")
    until(page, f"{TIME} < 11", "J plays backwards")
    page.keyboard.press("k")
    stopped = frame()
    expect(stopped < last, f"J: {stopped}")
    page.keyboard.press("m")
    expect(page.evaluate("document.getElementById('video').muted"), "M")
    expect(page.get_attribute("#mute", "aria-label") == "Sound on", "the name of a mute button")
    page.keyboard.press("?")
    expect(page.is_visible("#keys"), "? shows the keys")
    page.keyboard.press("Escape")

    box = page.locator("#strip").bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 40)
    expect(page.is_visible("#peek-tile"), "hovering shows a tile")
    picture = page.evaluate("getComputedStyle(document.getElementById('peek-tile')).backgroundImage")
    expect("storyboard" in picture, f"tile: {picture}")
    expect(re.match(r"01:00:0|00:59:5|01:00:0", page.inner_text("#peek-time")), "hovering shows the time")
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] / 4, box["y"] + 40)
    page.mouse.up()
    expect(80 < frame() < 100, f"dragging: {frame()}")

    link = page.locator("#findings li:has-text('Black') a.moment").first
    start = float(link.get_attribute("data-at"))
    link.click()
    until(page, f"Math.abs({TIME} - {start}) < .1", "a finding's link jumps")
    expect(page.locator("#findings li.now").count() == 1, "the finding is marked in the list")
    expect(page.locator("#marks i").count() >= 1, "findings are on the timeline")
    page.keyboard.press("Home")
    page.locator("#marks i").first.click()
    until(page, f"{TIME} > .05", "a mark jumps")
    page.goto("about:blank")
    page.goto(f"{address}#t=6")
    until(page, f"Math.abs({TIME} - 6) < .1", "an address leads to a moment")
    page.select_option("#guide", "safe")
    expect(page.locator("#guides rect").count() == 2, "safe areas")
    page.click("#copy")
    until(page, "document.getElementById('copied').textContent === 'Copied'", "the checksum is copied")
    page.keyboard.press("Tab")
    outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    expect(outline != "none", "the focus is visible")


def search(page, address):
    """The index: search, sort, filter, and the way back."""
    page.goto(address)
    shown = lambda: page.locator(".card:visible").count()
    count = page.locator(".card").count()
    expect(count >= 2 and shown() == count, f"cards: {shown()} of {count}")
    page.keyboard.press("/")
    page.keyboard.type(title[:8].upper())
    until(page, "document.querySelectorAll('.card:not([hidden])').length === 1", "search finds one")
    page.keyboard.press("Escape")
    until(page, "!document.querySelector('.card[hidden]')", "Escape ends the search")
    page.fill("#search", "no such thing")
    expect(page.is_visible("#empty") and shown() == 0, "nothing matches")
    page.fill("#search", "")
    page.select_option("#sort", "longest")
    lengths = page.eval_on_selector_all(".card", "all => all.map(card => Number(card.dataset.duration))")
    expect(lengths == sorted(lengths, reverse=True), f"sorted: {lengths}")
    box = page.locator("#tools input[type=checkbox]").first
    kind = box.get_attribute("value")
    box.check(force=True)
    wanted = page.locator(f".card[data-kinds~={kind}]").count()
    expect(0 < shown() == wanted, f"filter {kind}: {shown()} of {wanted}")
    page.locator(".card:visible a").first.click()
    page.wait_for_selector(".top a")
    page.go_back()
    until(page, f"document.querySelectorAll('.card:not([hidden])').length === {wanted}", "the way back")


def plain(browser, base, addresses):
    """Without scripts the facts, the poster and the sheet are there."""
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    watch(page, base)
    for address in addresses:
        page.goto(address)
        expect("Technical data" in page.inner_text("body"), f"facts without scripts: {address}")
        expect(page.locator(".sheet img").count() == 1, f"sheet without scripts: {address}")
        expect(page.locator("video[controls], .picture img").count() == 1, f"player: {address}")
    context.close()


def main():
    pages = sorted(folder.glob("*/index.html"))
    names = [page.parent.name for page in pages]
    print(len(pages), "previews", flush=True)
    server = http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(Server, directory=str(folder.parent)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    bases = [f"file://{folder}", f"http://127.0.0.1:{server.server_port}/{folder.name}"]
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as home:
        browser = playwright.chromium.launch(
            executable_path="/usr/bin/chromium", args=["--no-sandbox", "--disable-gpu"],
            env={"HOME": home, "PATH": "/usr/bin:/bin"})
        for base in bases:
            began = time.monotonic()
            context = browser.new_context(reduced_motion="reduce")
            if base.startswith("http"):
                context.grant_permissions(["clipboard-write", "clipboard-read"])
            page = context.new_page()
            page.set_default_timeout(30_000)
            watch(page, base)
            addresses = [f"{base}/{name}/index.html" for name in names]
            found = []
            for address in addresses if base.startswith("file") else []:
                look(page, address)
            look(page, f"{base}/index.html")
            for address in addresses:
                page.goto(address)
                if page.inner_text("h1") == title:
                    found.append(address)
            expect(len(found) == 1, f"the video's page: {found}")
            if found:
                play(page, found[0])
            search(page, f"{base}/index.html")
            plain(browser, base, addresses[:2])
            context.close()
            print(f"{base.split(':')[0]}: {time.monotonic() - began:.1f} s", flush=True)
        browser.close()
    server.shutdown()
    print(len(faults), "faults", flush=True)
    sys.exit(1 if faults else 0)


main()
