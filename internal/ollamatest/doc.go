// Package ollamatest asks a real model on a real server: an Ollama, through package client, in each
// of the four dialects that such a server speaks (its own, Chat Completions, Responses, Messages). It
// is no test of Ollama or of what a model says. It holds that what our codecs write is taken, that
// what the server writes is read without loss, and that its refusals are classified. It has tests only.
//
// TestProxyGrows puts the server behind package proxy for a conversation of many windows, and holds our
// count against the prompts that the server reports; with -v it prints both. It takes most of the time.
// TestOwnSummaries has the model summarise a conversation of its own in a window of 2,048 tokens.
//
// The server is built and started by scripts/ollama. The tests run when PLIMSOLL_OLLAMA and
// PLIMSOLL_OLLAMA_MODEL name its address and a model that has a window of at most some thousand
// tokens, since it is filled; PLIMSOLL_OLLAMA_THINKER may name a model that thinks. Otherwise they are
// skipped.
//
//	url=$(scripts/ollama /tmp/ollama | tail -n 1)
//	PLIMSOLL_OLLAMA=$url PLIMSOLL_OLLAMA_MODEL=smollm2 PLIMSOLL_OLLAMA_THINKER=smollm2-thinks go test ./internal/ollamatest
//	scripts/ollama /tmp/ollama stop
//
// Every exchange of every test is recorded, and when the test has ended its bytes are put to the laws
// of the codecs: request, reply, stream and error body (laws_test.go). Where the server departs from
// the rules of a dialect that it imitates, the rule is listed in departures, with what comes of it.
package ollamatest
