#pragma once
#include <curl/curl.h>

// curl_easy_setopt and curl_easy_getinfo are variadic and do not import: one typed function for each
// kind of value.

static inline CURLcode handoff_curl_set_long(CURL *curl, CURLoption option, long value)
{
  return curl_easy_setopt(curl, option, value);
}

static inline CURLcode handoff_curl_set_text(CURL *curl, CURLoption option, const char *value)
{
  return curl_easy_setopt(curl, option, value);
}

static inline CURLcode handoff_curl_set_list(
  CURL *curl, CURLoption option, struct curl_slist *value)
{
  return curl_easy_setopt(curl, option, value);
}

static inline CURLcode handoff_curl_set_mime(CURL *curl, curl_mime *value)
{
  return curl_easy_setopt(curl, CURLOPT_MIMEPOST, value);
}

// A copy of the bytes as the body of a POST.
static inline CURLcode handoff_curl_set_body(CURL *curl, const void *bytes, long count)
{
  CURLcode code = curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE, count);
  return code ? code : curl_easy_setopt(curl, CURLOPT_COPYPOSTFIELDS, bytes);
}

// The bytes of a part; a text with a NUL byte keeps its length.
static inline CURLcode handoff_curl_set_part(curl_mimepart *part, const void *bytes, size_t count)
{
  return curl_mime_data(part, bytes, count);
}

static inline CURLcode handoff_curl_set_size(CURL *curl, CURLoption option, curl_off_t value)
{
  return curl_easy_setopt(curl, option, value);
}

// Where the body of an upload is read from.
static inline CURLcode handoff_curl_set_reader(
  CURL *curl, curl_read_callback read, curl_seek_callback seek, void *context)
{
  CURLcode code = curl_easy_setopt(curl, CURLOPT_READFUNCTION, read);
  if (!code) code = curl_easy_setopt(curl, CURLOPT_READDATA, context);
  if (!code) code = curl_easy_setopt(curl, CURLOPT_SEEKFUNCTION, seek);
  if (!code) code = curl_easy_setopt(curl, CURLOPT_SEEKDATA, context);
  return code;
}

typedef size_t (*handoff_curl_write)(char *bytes, size_t size, size_t count, void *context);

static inline CURLcode handoff_curl_set_writer(
  CURL *curl, handoff_curl_write body, handoff_curl_write header, void *context)
{
  CURLcode code = curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, body);
  if (!code) code = curl_easy_setopt(curl, CURLOPT_WRITEDATA, context);
  if (!code) code = curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, header);
  if (!code) code = curl_easy_setopt(curl, CURLOPT_HEADERDATA, context);
  return code;
}

static inline CURLcode handoff_curl_set_progress(
  CURL *curl, curl_xferinfo_callback progress, void *context)
{
  CURLcode code = curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, progress);
  if (!code) code = curl_easy_setopt(curl, CURLOPT_XFERINFODATA, context);
  if (!code) code = curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
  return code;
}

static inline CURLcode handoff_curl_get_long(CURL *curl, CURLINFO info, long *value)
{
  return curl_easy_getinfo(curl, info, value);
}

// Microseconds until the request began to be sent; 0 if it never was.
static inline curl_off_t handoff_curl_sent_after(CURL *curl)
{
  curl_off_t time = 0;
  return curl_easy_getinfo(curl, CURLINFO_PRETRANSFER_TIME_T, &time) ? 0 : time;
}

static inline CURLcode handoff_curl_initialize(void)
{
  return curl_global_init(CURL_GLOBAL_DEFAULT);
}
