#pragma once
#include <errno.h>
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/avutil.h>
#include <libavutil/display.h>
#include <unistd.h>

// What Swift cannot import of libavformat: macros, bit fields, and callbacks as libavformat wants them.

/// A file that is read with pread(2) only, so that the shared file position never moves.
typedef struct HandoffAVReader {
  int descriptor;
  int64_t size;
  int64_t position;
  /// The errno of the first read that failed; 0 if none did.
  int error;
} HandoffAVReader;

/// One entry of a stream's index.
typedef struct HandoffAVEntry {
  int64_t offset;
  int64_t size;
  int64_t time;
} HandoffAVEntry;

static inline int handoff_av_read(void *opaque, uint8_t *buffer, int count) {
  HandoffAVReader *reader = (HandoffAVReader *)opaque;
  if (reader->position >= reader->size) return AVERROR_EOF;
  ssize_t got;
  do {
    got = pread(reader->descriptor, buffer, (size_t)count, (off_t)reader->position);
  } while (got < 0 && errno == EINTR);
  if (got < 0) {
    if (reader->error == 0) reader->error = errno;
    return AVERROR(reader->error);
  }
  if (got == 0) return AVERROR_EOF;
  reader->position += got;
  return (int)got;
}

static inline int64_t handoff_av_seek(void *opaque, int64_t offset, int whence) {
  HandoffAVReader *reader = (HandoffAVReader *)opaque;
  int64_t base = 0;
  switch (whence & ~AVSEEK_FORCE) {
    case AVSEEK_SIZE: return reader->size;
    case SEEK_SET: break;
    case SEEK_CUR: base = reader->position; break;
    case SEEK_END: base = reader->size; break;
    default: return AVERROR(EINVAL);
  }
  int64_t target;
  if (__builtin_add_overflow(base, offset, &target) || target < 0) return AVERROR(EINVAL);
  reader->position = target;
  return target;
}

/// A file never makes its reader open another one.
static inline int handoff_av_refuse(
    AVFormatContext *context, AVIOContext **io, const char *url, int flags, AVDictionary **options) {
  (void)context; (void)io; (void)url; (void)flags; (void)options;
  return AVERROR(EACCES);
}

/// Opens a file as one named format; NULL and an AVERROR code where the header cannot be read.
///
/// `reader` has to outlive the context. Close with handoff_av_close.
static inline AVFormatContext *handoff_av_open(
    HandoffAVReader *reader, const char *format, int *result) {
  *result = AVERROR(ENOMEM);
  const AVInputFormat *input = av_find_input_format(format);
  if (!input) {
    *result = AVERROR_DEMUXER_NOT_FOUND;
    return NULL;
  }
  const int size = 32768;
  unsigned char *buffer = (unsigned char *)av_malloc(size);
  if (!buffer) return NULL;
  AVIOContext *io =
      avio_alloc_context(buffer, size, 0, reader, handoff_av_read, NULL, handoff_av_seek);
  if (!io) {
    av_free(buffer);
    return NULL;
  }
  AVFormatContext *context = avformat_alloc_context();
  if (context) {
    context->pb = io;
    context->flags |= AVFMT_FLAG_CUSTOM_IO;
    context->io_open = handoff_av_refuse;
    context->max_streams = 128;
    *result = avformat_open_input(&context, NULL, input, NULL);
    if (*result >= 0) return context;
  }
  av_freep(&io->buffer);
  avio_context_free(&io);
  return NULL;
}

static inline void handoff_av_close(AVFormatContext *context) {
  AVIOContext *io = context->pb;
  avformat_close_input(&context);
  if (io) {
    av_freep(&io->buffer);
    avio_context_free(&io);
  }
}

static inline HandoffAVEntry handoff_av_entry(AVStream *stream, int index) {
  HandoffAVEntry entry = {-1, 0, 0};
  const AVIndexEntry *found = avformat_index_get_entry(stream, index);
  if (found) {
    entry.offset = found->pos;
    entry.size = found->size;
    entry.time = found->timestamp;
  }
  return entry;
}

static inline int64_t handoff_av_no_time(void) { return AV_NOPTS_VALUE; }

static inline int handoff_av_end_of_file(void) { return AVERROR_EOF; }

/// The stream is a picture that belongs to the file (cover art, chapter images), not a video.
static inline int handoff_av_is_picture(const AVStream *stream) {
  return (stream->disposition & (AV_DISPOSITION_ATTACHED_PIC | AV_DISPOSITION_TIMED_THUMBNAILS |
                                 AV_DISPOSITION_STILL_IMAGE)) != 0;
}

// The frees that clear the caller's pointer, for callers that keep it in a constant.
static inline void handoff_av_free_codec(AVCodecContext *context) { avcodec_free_context(&context); }
static inline void handoff_av_free_frame(AVFrame *frame) { av_frame_free(&frame); }
static inline void handoff_av_free_packet(AVPacket *packet) { av_packet_free(&packet); }
