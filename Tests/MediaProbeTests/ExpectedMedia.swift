import HandoffCore

/// What Handoff has to find in the collected real files, beyond what their list says.
enum ExpectedMedia {
  struct Facts {
    let codec: String
    /// As displayed.
    let width: Int
    let height: Int
    let duration: Double
    var audio = 0
    var rotation = 0
  }

  /// Verdicts that are more exact than "not accepted".
  static let judgements: [String: ProbeVerdict.Judgement] = [
    "mp4_init_segment_only_3900s.mp4": .incomplete,
    "mov_photoprism_jpeg_41s.mov": .incomplete,
    "mp4_broken_no_moov.mp4": .incomplete,
    "mp4_moov_only_mdat_missing_231s.mp4": .incomplete,
    "mp4_encrypted_cenc.mp4": .unsuitable,
    "mp4_audio_only.mp4": .unsuitable,
    "mp4_chunk_out_of_range.mp4": .unsuitable,
    "gif_animated_50s.gif": .unsuitable,
    "mp4_adobe_trailing_uuid.mp4": .complete,
    "mts_avchd_sony.mts": .notProvable,
    "webm_mediarecorder_noduration_vp9.webm": .notProvable,
  ]

  static let facts: [String: Facts] = [
    "mp4_h264_aac_moov_front_smpte.mp4":
      Facts(codec: "h264", width: 1_920, height: 1_080, duration: 10.048, audio: 1),
    "mp4_adobe_trailing_uuid.mp4": Facts(codec: "h264", width: 960, height: 540, duration: 1.034),
    "mp4_fragmented_offset_143165s.mp4":
      Facts(codec: "h264", width: 1_080, height: 720, duration: 1.068, audio: 1),
    "mp4_fragmented_rot90.mp4":
      Facts(codec: "h264", width: 1_080, height: 1_920, duration: 2.005, audio: 1, rotation: 90),
    "mov_prores422hq.mov": Facts(codec: "prores", width: 320, height: 240, duration: 1),
    "mov_location_statue_of_liberty.mov":
      Facts(codec: "h264", width: 640, height: 428, duration: 1.020, audio: 1),
    "mov_timecode_track_2997.mov": Facts(codec: "h264", width: 720, height: 480, duration: 0.334),
    "mov_vfr_hevc_4k.mov": Facts(codec: "hevc", width: 3_840, height: 2_160, duration: 2),
    "mov_no_ftyp_mjpeg_2001.mov": Facts(codec: "mjpeg", width: 256, height: 256, duration: 3.033),
    "mp4_av1_hdr10_vertical.mp4":
      Facts(codec: "av1", width: 720, height: 1_280, duration: 4.238, audio: 1),
    "mp4_one_frame_40ms.mp4": Facts(codec: "h264", width: 320, height: 240, duration: 0.04),
    "mp4_long_363s_lowbitrate.mp4":
      Facts(codec: "h264", width: 1_920, height: 1_080, duration: 362.767),
    "mp4_vvc.mp4": Facts(codec: "vvc1", width: 320, height: 180, duration: 5),
    "mkv_multi_audio_8_subs.mkv":
      Facts(codec: "h264", width: 1_024, height: 576, duration: 2.017, audio: 2),
    "webm_vp9_opus_1s.webm": Facts(
      codec: "vp9",
      width: 854,
      height: 480,
      duration: 1.008,
      audio: 1
    ),
    "webm_mediarecorder_noduration_vp9.webm":
      Facts(codec: "vp9", width: 1_280, height: 720, duration: 4.94, audio: 1),
    "avi_mjpeg_pcm_camera.AVI":
      Facts(codec: "mjpeg", width: 320, height: 240, duration: 2.733, audio: 1),
    "mts_avchd_sony.mts":
      Facts(codec: "h264", width: 1_920, height: 1_080, duration: 0.544, audio: 1),
    "3gp_mpeg4_amr.3gp": Facts(codec: "mpeg4", width: 176, height: 144, duration: 4.933, audio: 1),
    "te[s]t_ video ' _ .flv": Facts(codec: "h264", width: 320, height: 240, duration: 1.876),
  ]
}
