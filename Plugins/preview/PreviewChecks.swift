import Glibc
import HandoffProtocol
import LinuxSystem
import Paths

/// What `handoff doctor` is told.
struct PreviewChecks: Sendable {
  let settings: PreviewSettings
  let ffmpeg: FFmpeg
  let features: FeatureCache

  func all() async -> [DestinationCheck] {
    do {
      let features = try await features.features()
      return [
        program(features), encoder(features), toneMapping(features), font(features), await folder(),
      ]
    } catch {
      let failed = DestinationCheck(
        "program",
        passed: false,
        "\(ffmpeg.program.displayText) does not run: \(error.message)",
        remedy: "Install the package ffmpeg anew."
      )
      return [failed, await folder()]
    }
  }

  private func program(_ features: FFmpegFeatures) -> DestinationCheck {
    DestinationCheck(
      "program",
      passed: true,
      "\(ffmpeg.program.displayText) is version \(features.version)"
    )
  }

  private func encoder(_ features: FFmpegFeatures) -> DestinationCheck {
    let isNeeded = settings.proxy && !features.hasX264
    return DestinationCheck(
      "encoder",
      passed: !isNeeded,
      features.hasX264 ? "ffmpeg has libx264 for the proxy" : "ffmpeg has no libx264",
      remedy: isNeeded ? "Install Debian's package ffmpeg, or set proxy to false." : nil
    )
  }

  private func toneMapping(_ features: FFmpegFeatures) -> DestinationCheck {
    DestinationCheck(
      "tone_mapping",
      passed: features.hasToneMapping,
      features.hasToneMapping
        ? "HDR is tone-mapped" : "ffmpeg has no zscale: HDR videos will look pale",
      remedy: features.hasToneMapping ? nil : "Install an ffmpeg with libzimg, as Debian's."
    )
  }

  private func font(_ features: FFmpegFeatures) -> DestinationCheck {
    guard let font = features.font else {
      return DestinationCheck(
        "font",
        passed: false,
        "no font for times in the contact sheet: it has none",
        remedy: "Install fonts-dejavu-core, or name a font file in settings.font."
      )
    }
    return DestinationCheck("font", passed: true, "times are written in \(font.displayText)")
  }

  private func folder() async -> DestinationCheck {
    let path = settings.folder
    let thread = BlockingThread("preview.checks")
    // A folder that is not there yet is made by the first preview.
    let error = await thread.run { () -> Int32? in
      var place = path
      while access(place.nulTerminated, F_OK) != 0, place != "/" { place = place.parent }
      return access(place.nulTerminated, W_OK | X_OK) == 0 ? nil : errno
    }
    guard let error else {
      return DestinationCheck("folder", passed: true, "\(path.displayText) can be written")
    }
    let reason = SystemError(error, "access", path)
    return DestinationCheck(
      "folder",
      passed: false,
      "\(reason)",
      remedy: "Let the destination write there: its `write` list."
    )
  }
}
