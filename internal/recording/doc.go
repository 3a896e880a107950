// Package recording reads recorded exchanges with model providers, so that tests can hold the codecs against what providers really said.
//
// It is for tests only: it reads whole files into memory, knows the layouts of the corpus and nothing of the dialects beyond what tells
// them apart, and judges nothing. The corpus is not part of the module; tests find it through the environment variable PLIMSOLL_CORPUS
// and skip without it.
//
// # Layouts
//
// [Load] reads everything below http-recordings and gemini-api:
//   - *.yaml: cassettes of go-vcr and of VCR. Bodies in base64 and compressed bodies (gzip, zlib) are unpacked. A body that the cassette
//     holds as parsed YAML is written as compact JSON again, with the members in the cassette's order and numbers as they are spelled there.
//   - *.json: the interactions of an HTTP replay, with bodies as text, base64 or JSON; a nock recording (a list of calls); an export of
//     some other shape is one reply that was not streamed.
//   - *.sse: one streamed reply, as it was on the wire.
//   - *.chunks.txt: the payloads of streamed replies, one a line. They get the framing of their dialect back: "event: TYPE" and "data:"
//     where payloads name their type, "data:" alone else, and the closing "data: [DONE]" of chat completions.
//   - *.responses: one line for each call of a client, {"method", "response"}. The response of a stream is the list of its payloads.
//
// [Bodies] reads the request bodies below the request-bodies folders, which name their dialect.
//
// # What is left out
//
// Calls of a recorded client to anything but a model (feature flags, telemetry, uploads) are exchanges like others, without a dialect. A
// cassette without interactions, a body in brotli and a YAML alias are errors; the corpus has none.
package recording
