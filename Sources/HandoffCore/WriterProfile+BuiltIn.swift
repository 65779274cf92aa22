extension WriterProfile {
  /// The writers that are known without configuration, those with the widest patterns last.
  ///
  /// Where no source names a temporary name, none is made up: HandBrake (HandBrake/HandBrake#1807),
  /// After Effects (CommandPost/CommandPost#964), ffmpeg, OpenSSH's sftp-server and a plain copy write
  /// under the final name, and so, as far as could be found, do Premiere Pro, Media Encoder, DaVinci
  /// Resolve and Final Cut Pro. For them the lease and the container's checks have to do, and for
  /// shares where a file is closed and opened again, the folder's `quiet`.
  package static let builtIn: [WriterProfile] =
    [handoff] + systems + syncing + downloading + editing + copying + [general]

  /// This broker's own, also another instance's: SourceMove, SourceRemoval, sidecars and receipts.
  private static let handoff = WriterProfile(
    "handoff",
    title: "Handoff",
    temporary: [".handoff-*"]
  )

  // MARK: Copying

  private static let copying = [
    // winscp.net/eng/docs/ui_pref_resume: "Transfer to temporary filename".
    WriterProfile("winscp", title: "WinSCP", temporary: ["*.filepart"]),
    // lftp(1), xfer:use-temp-file and xfer:temp-file-name.
    WriterProfile("lftp", title: "lftp", temporary: [".in.*", "*.lftp"]),
    // rclone.org/docs, --partial-suffix since 1.63: NAME.HASH.partial (rclone/rclone#6913, #8035).
    WriterProfile("rclone", title: "rclone", temporary: ["*.partial"]),
    // rsync(1), --temp-dir, --partial-dir and --delay-updates; superuser.com/questions/579001.
    WriterProfile(
      "rsync",
      title: "rsync",
      temporary: [".*.??????"],
      folders: [".~tmp~", ".rsync-partial"]
    ),
  ]

  // MARK: Downloading

  private static let downloading = [
    // opendownloadfile.com/partial.html; qbittorrent/qBittorrent#6749 on shared-mime-info.
    WriterProfile("firefox", title: "Firefox", temporary: ["*.part"]),
    // opendownloadfile.com/crdownload.html: "Unconfirmed ID.crdownload" at first.
    WriterProfile("chrome", title: "Chrome and Edge", temporary: ["*.crdownload"]),
    // opendownloadfile.com/partial.html.
    WriterProfile("safari", title: "Safari", temporary: ["*.download"]),
    // opendownloadfile.com/partial.html.
    WriterProfile("internet-explorer", title: "Internet Explorer", temporary: ["*.partial"]),
    // Left-over NAME.opdownload files in public repositories, and lists of other folder watchers.
    WriterProfile("opera", title: "Opera", temporary: ["*.opdownload"]),
    aria2,
    // ytdl-org/youtube-dl commit 290f64d: the state of a download in fragments beside NAME.part.
    WriterProfile("yt-dlp", title: "yt-dlp", temporary: ["*.part", "*.ytdl"]),
    // qbittorrent/qBittorrent#5023, #18181.
    WriterProfile("qbittorrent", title: "qBittorrent", temporary: ["*.!qb"]),
    // transmission/transmission#5579.
    WriterProfile("transmission", title: "Transmission", temporary: ["*.part"]),
    // RandomEngy/VidCoder#1095: a folder is renamed once it is unpacked.
    WriterProfile("sabnzbd", title: "SABnzbd", folders: ["_UNPACK_*"]),
  ]

  /// aria2.github.io/manual/en/html/technical-notes.html and aria2/aria2#792: the download has its final
  /// name and its full size from the start, and a control file beside it until it is finished.
  private static let aria2: WriterProfile = {
    var profile = WriterProfile("aria2", title: "aria2", temporary: ["*.aria2"])
    profile.unfinished = [".aria2"]
    return profile
  }()

  // MARK: Syncing

  private static let syncing = [
    // syncthing-versioning(7) for the folders; both names are what Syncthing itself ignores.
    WriterProfile(
      "syncthing",
      title: "Syncthing",
      temporary: [".syncthing.*", "~syncthing~*"],
      folders: [".stversions", ".stfolder"]
    ),
    // grimore.org/fuss/bittorrent_sync and docs.resilio.com, "Understanding the Archive folder".
    WriterProfile(
      "resilio",
      title: "Resilio Sync",
      temporary: ["*.!sync", "*.syncpart", "*.synctemp", "*.syncold"],
      folders: [".sync", ".SyncArchive"]
    ),
    // nextcloud/server#26179, #16517.
    WriterProfile(
      "nextcloud",
      title: "Nextcloud and ownCloud",
      temporary: ["*.octransferid*.part", ".nextcloudsync.log", ".sync_*.db*"]
    ),
    // help.dropbox.com/desktop-web/cache-folder.
    WriterProfile("dropbox", title: "Dropbox", folders: [".dropbox.cache"]),
    // help.insynchq.com/en/articles/4472340.
    WriterProfile("insync", title: "Insync", temporary: ["*.insyncdl"]),
  ]

  // MARK: Editing and recording

  private static let editing = [
    obs,
    // helpx.adobe.com/media-encoder/using/media-cache-database.html: conformed sound and MPEG indexes.
    WriterProfile(
      "adobe",
      title: "Premiere Pro and Media Encoder",
      temporary: ["*.cfa", "*.mpgindex"]
    ),
    // gpac/gpac#1732.
    WriterProfile("gpac", title: "MP4Box", temporary: ["_libgpac_*"]),
    // ossrs/srs#1292.
    WriterProfile("srs", title: "SRS", temporary: ["*.mp4.tmp", "*.flv.tmp"]),
  ]

  /// obsproject/obs-studio#908, #1441 and #8029: the remux gets the recording's name with another
  /// extension some time after it; #8572 and #8573: `.remuxed` where the container stays the same.
  private static let obs: WriterProfile = {
    var profile = WriterProfile("obs", title: "OBS Studio")
    profile.remuxed = [".remuxed"]
    return profile
  }()

  // MARK: Systems

  private static let systems = [
    // superuser.com/questions/105243 and apple.stackexchange.com/questions/14980 for the files;
    // Scille/parsec-cloud#1764 for safe saves; a client that deletes an open file on an SMB share
    // renames it to .smbdelete first.
    WriterProfile(
      "macos",
      title: "macOS",
      temporary: ["._*", ".DS_Store", ".localized", ".smbdelete*", "*.sb-????????-??????"],
      folders: [
        ".AppleDouble", ".Trashes", ".Spotlight-V100", ".TemporaryItems", ".fseventsd",
        ".DocumentRevisions-V100", "__MACOSX", "*.sb-????????-??????",
      ]
    ),
    // Of Explorer: views, thumbnails, the recycle bin and restore points.
    WriterProfile(
      "windows",
      title: "Windows",
      temporary: ["Thumbs.db", "desktop.ini"],
      folders: ["$RECYCLE.BIN", "System Volume Information"]
    ),
    // Radarr/Radarr#166 for @eaDir; synology.com knowledge base on shared folders and snapshots.
    WriterProfile(
      "synology",
      title: "Synology",
      folders: ["@eaDir", "#recycle", "#snapshot"]
    ),
    // mke2fs(8).
    WriterProfile("ext4", title: "ext4", folders: ["lost+found"]),
  ]

  /// Names that many programs use, and hidden ones.
  private static let general = WriterProfile(
    "general",
    title: "many programs",
    temporary: [
      "*.part", "*.partial", "*.tmp", "*.temp", "*.incomplete", "*.unconfirmed", "*.!ut", "*.bc!",
      "*.swp", "*.lock", "~*", "*~", ".*",
    ],
    folders: [".*"]
  )
}
