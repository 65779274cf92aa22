/// The commented configuration that `handoff init` writes.
package enum SampleConfiguration {
  /// The text of `config/handoff.toml`, byte for byte: a test compares them.
  package static let text = #"""
    # Configuration of Handoff.
    #
    # Every key is here with its default; one that is commented out has none, or is an example. Relative
    # paths are relative to this file. Durations are text with a unit (ms, s, m, h, d). Unknown keys are
    # errors: `handoff check` tells all problems at once, with line and column.

    [broker]
    state = "state"                    # ledger, key, socket, work folders
    listen = "127.0.0.1:7717"          # dashboard and API; "" for none
    token_file = ""                    # API token; made in the state folder when empty
    public_url = ""                    # how receivers and browsers on other hosts reach it
    allowed_hosts = []                 # names accepted in the Host header besides the local ones
    group = ""                         # Unix group that may use the socket
    alert = ""                         # callback id told of what only `handoff status` would show
    history = "400d"                   # or "keep": how long ended handoffs and their events are kept
    crash_limit = 3                    # crashes with it in hand, and it is given up; 0 for never

    [library]
    path = "library"                   # every imported video is kept here, once
    reserve = "5%"                     # intake stops below this much free space; or a size, as "10GB"
    retention = "keep"                 # or an age: an asset with no open handoff is deleted after it
    verify_every = "30d"               # background re-reading; "" for never

    # One such part for each watched folder. Among nested folders the deepest that holds a file decides.
    [[drop_folder]]
    path = "exports"                   # required; where exports appear
    recursive = true                   # also in its subfolders
    existing = "import"                # import | ignore what is there at the first look
    quiet = "1s"                       # no change for this long before a file can be finished
    quiet_poll = "60s"                 # between two equal looks, where no lease can be had
    proof = "auto"                     # auto | rename | marker | checksum: what else must be there
    give_up = "10m"                    # an incomplete file is listed as refused after this
    watch = "auto"                     # auto | events | poll
    poll_interval = "5s"               # between looks, where it is polled
    ignore = []                        # besides the writers' temporary names, as ["*.draft.*"]
    prefer = []                        # containers, best first, among files of one stem, as ["mp4"]
    prefer_wait = "10m"                # a finished file waits so long for one that is preferred
    sidecar_wait = "0s"                # how long an export waits for its NAME.EXT.handoff.toml
    package = false                    # a directory that arrives is one request of all its exports
    original = "keep"                  # keep | remove | move
    original_when = "imported"         # imported | handed_off
    move_to = ""                       # where originals go, with original = "move"
    handoff = ["archive", "preview"]   # destinations of each export; default: none
    sync_publish_to = []               # besides, when the box is ticked, as ["social"]
    publish_by_default = false         # the box, for exports without a sidecar
    on_supersede = "hold"              # hold | replace | both: unsubmitted handoffs at a re-export
    callback = ""                      # default callback id for its handoffs and refused exports

    # One such part for each destination.
    [destination.archive]
    transport = "plugin"               # required; plugin | exec | http | url | file
    command = ["handoff-archive"]      # found beside handoff, then on PATH; with a slash it is a path
    idle = "10m"                       # no sign of life for this long ends the attempt
    ceiling = "24h"                    # counted from submission; nothing moves it
    retry = { for = "24h", first = "2s", max = "15m" }  # only of attempts that left nothing behind
    concurrency = 2                    # handoffs at once
    quota = ""                         # at most so many submissions in any 24 hours: "5/24h"
    after = []                         # destinations that must have succeeded for the asset first
    use = "original"                   # or a rendition, as "proxy", that one of these has registered
    approval = false                   # each waits for `handoff approve ID`
    folders = []                       # only assets seen in these ("import": by hand); empty = all
    containment = "prefer"             # require | prefer | none
    network = false                    # it may use the network
    read = []                          # further folders it may read
    write = ["archive"]                # folders it may write; default: none
    env = []                           # names of environment variables it is given
    protocol_versions = [1, 2, 3]      # narrows what the receiver says it can

    [destination.archive.constraints]  # narrows what the receiver says it takes; nothing by default
    # min_duration = "1s"
    # max_duration = "2h"
    # max_size = "20GB"                # B, kB, MB, GB, TB, or KiB, MiB, GiB, TiB
    # max_count = 1                    # assets in one handoff
    # video_codecs = ["h264", "hevc"]
    # containers = ["mp4", "mov"]
    # max_width = 3840                 # pixels as displayed
    # max_height = 2160

    [destination.archive.settings]     # the plugin's own; a text that begins with ./ is made absolute
    folder = "./archive"               # or a remote of rclone (then network = true and its file in read):
    # remote = "offsite:masters"
    # rclone_config = "/etc/handoff/rclone/rclone.conf"
    # layout = "{year}/{month}"        # where in it a copy goes, as "{year}/{title}.{ext}"
    # mhl = false                      # ASC MHL generations beside SHA256SUMS

    [destination.preview]
    transport = "plugin"
    command = ["handoff-preview"]
    write = ["preview"]

    [destination.preview.settings]
    folder = "./preview"
    # proxy = true                     # a small H.264 video for browsers; also for use = "proxy"
    # proxy_height = 720
    # proxy_crf = 23                   # x264's quality: less is better and larger
    # burn_timecode = false
    # storyboard = true
    # waveform = true
    # loudness = true
    # quality_checks = true            # black, frozen and silent stretches, damage
    # nice = 5                         # of ffmpeg

    # A server with the Mastodon API. Name it in sync_publish_to above, and start the broker with the
    # token in its environment.
    # [destination.social]
    # transport = "plugin"
    # command = ["handoff-social"]
    # network = true
    # env = ["SOCIAL_TOKEN"]
    #
    # [destination.social.settings]
    # platform = "mastodon"            # or matrix, mediawiki
    # server = "https://social.example"
    # token_env = "SOCIAL_TOKEN"       # the name of the variable, never the token; or token_file
    # text = "{title}\n\n{description}\n\n{hashtags}"
    # visibility = "public"
    # language = "en"
    # tags = ["film"]

    # A wiki, Wikimedia Commons among them.
    # [destination.commons]
    # transport = "plugin"
    # command = ["handoff-social"]
    # network = true
    # read = ["/etc/handoff/commons"]
    #
    # [destination.commons.settings]
    # platform = "mediawiki"
    # server = "https://commons.wikimedia.org/w"
    # user = "Poster@handoff"          # a bot password's name
    # token_file = "/etc/handoff/commons/password"
    # license = "{{self|cc-by-4.0}}"

    # Other transports, each with its own keys.
    # [destination.hook]
    # transport = "http"
    # url = "https://example.net/hook"
    # answer = "callback"              # callback: signed, to /v3/results; status: that of the response
    # secret = { env = "HOOK_SECRET" } # or { file = "…" } or { credential = "…" }; whsec_… or 24 bytes or more
    # old_secret = { env = "HOOK_OLD" } # the one before, while the two sides change it
    # idempotent = false               # it drops what it has had, by webhook-id: doubtful tries are repeated
    #
    # [destination.desktop]
    # transport = "url"
    # url = "editor://handoff"         # the program's own scheme, and nothing after handoff
    # opener = ["xdg-open"]            # gets the URL as its last argument, in the broker's session
    # ceiling = "1h"                   # the result comes by `handoff result` before, or not at all
    #
    # [destination.share]
    # transport = "file"
    # inbox = "share"                  # made if it is missing; the folder that it lies in is not

    # Where senders hear of results, and a folder's callback and the broker's alert of trouble: exactly one
    # of exec, url, open and file. In exec, words in braces are members of the notice, which also comes on
    # standard input: title, result, reason, kind, destination, path, local_identifier, url and others. A file
    # gets a line of JSON for each notice, a folder a file.
    # [callback.editor-v1]
    # exec = ["notify-send", "{title}", "{result}"]
    # url = "https://example.net/results"
    # open = "editor://result"
    # file = "results.jsonl"
    # secret = { env = "EDITOR_SECRET" } # url: signs the notices, as for a destination
    # old_secret = { env = "EDITOR_OLD" } # url: the one before, while it is being changed
    # command = ["xdg-open"]             # open: what is given the URL

    # Programs that write exports, and what is known of them; `handoff check --print` shows those that are
    # built in, of which one with the same name here takes the place. Patterns are for one name.
    # [writer.encoder]
    # temporary = ["*.encoding"]         # names that are no exports
    # folders = ["_scratch"]             # folders that are not looked into
    # unfinished = [".lock"]             # added to an export's name: while that is there, it is not finished
    # remuxed = [".fixed"]               # added to a stem by a remux into the same container, for prefer
    # names = ["*.master.mov"]           # exports that
    # quiet = "10s"                      # wait so long without a change at least

    """#
}
