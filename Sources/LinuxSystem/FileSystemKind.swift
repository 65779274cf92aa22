/// The kind of a file system, by the magic number of statfs(2).
package struct FileSystemKind: Hashable, Sendable {
  package let magic: Int64

  package init(magic: Int64) {
    self.magic = magic
  }

  /// Network and cluster file systems, and those behind which another program or machine stands.
  ///
  /// Overlays and eCryptfs are not among them: they are written through the mount itself, so their
  /// events and leases tell everything.
  private static let network: [Int64: String] = [
    0x6969: "NFS",
    0xFF53_4D42: "CIFS",
    0xFE53_4D42: "SMB",
    0x517B: "SMB",
    0x6573_5546: "FUSE",
    0x0102_1997: "9P",
    0x00C3_6400: "Ceph",
    0x5346_414F: "AFS",
    0x6B41_4653: "AFS",
    0x7375_7245: "Coda",
    0x0116_1970: "GFS2",
    0x7461_636F: "OCFS2",
    0x0BD0_0BD0: "Lustre",
    0x4750_4653: "GPFS",
    0x1983_0326: "BeeGFS",
    0x2003_0528: "OrangeFS",
    0xAAD7_AAEA: "PanFS",
    0xBEEF_DEAD: "StorNext",
    0x564C: "NCP",
    0x786F_4256: "VirtualBox shared folder",
    0xBACB_ACBC: "VMware shared folder",
    0x7C7C_6673: "Parallels shared folder",
  ]

  /// The usual name of a network file system; nil for every other one.
  package var networkName: String? { Self.network[magic] }

  /// Other machines may write to it, or a program stands behind it: its events and leases tell only
  /// what happens here.
  package var isNetwork: Bool { networkName != nil }
}
