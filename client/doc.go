// Package client asks models over HTTP: it puts a [Provider]'s address, key and headers
// around a codec of package wire, and deals with what can go wrong on the way. It knows
// nothing of conversations; what is sent is the caller's [llm.Request].
//
//	p, _ := client.Lookup("anthropic")
//	c, err := client.New(p, client.Options{})
//	reply, err := c.Complete(ctx, llm.Request{Model: "claude-sonnet-4-5", MaxOutput: 500, Messages: messages})
//	for event, err := range c.Stream(ctx, request) { ... }
//
// # Keys
//
// A [Credential] says where a key is: in an environment variable, or printed by a
// program. A key is a [Secret], which no way of printing shows; one that a provider
// repeats in an error is taken out of it. Redirects to another origin are not followed,
// since they would carry key and prompt to it; and no key goes over http:// but to this
// machine and private networks ([PlainError]).
//
// # Bodies
//
// Whether an answer is a stream, a whole reply, an error or none of these is told by how
// its body begins, not by its content type: any of the first two is understood in either
// call, an error of any shape is a [wire.Error], and the rest is an [AnswerError].
//
// # Time
//
// Four limits, all in [Options]: one attempt, the whole call, the wait between two
// attempts, and how long a stream may be silent. The context that a caller gives ends a
// call at once. Nothing runs on when a call has returned; a stream ends when its loop does.
//
// # Attempts
//
// An attempt is made again if the provider's error is of a class that may pass
// ([wire.Class.Retryable]), if the connection failed, or if a reply was cut, and only
// as long as nothing of the reply has been given to the caller. What the provider says
// about when to come back is kept to; else the waits double from half a second to
// eight, a quarter more or less.
package client
