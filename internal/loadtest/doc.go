// Loadtest measures what stands between a client and a provider: how much later an answer
// begins and ends than on a direct connection, how many requests a second pass, and the
// memory and processor time that it takes. Everything is on this machine: the provider is a
// mock that answers at once, and the same conversations go, in turn and in rounds,
// straight to it and through each gateway.
//
//	loadtest -plimsoll bin/plimsoll [-litellm FILE] [-portkey FILE]     prints the tables
//	loadtest -plimsoll bin/plimsoll -flat 10m -rate 50                  one rate; memory as it goes
//
// scripts/bench-gateways installs the other gateways and runs it.
//
// Each connection has a conversation of its own that grows by a short exchange with each
// request, and ends when its body has grown by about two fifths; then the next one begins.
// The first request of a conversation, which brings everything at once, is counted apart:
// in use it is short.
package main
