// Package wire is the seam between the core and the wire formats of the providers:
// what a codec can do, what the errors mean that providers answer with, and how the events
// of a stream become a reply. It does no HTTP. The codecs themselves are below it, one
// folder for each provider; package wire/codecs finds them by dialect.
//
// A codec is lossless: what it decoded and nobody changed, it encodes to the very
// bytes it came as. Where something was changed, only that is written anew.
package wire
