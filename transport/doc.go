// Package transport keeps the conversations of a program that calls a provider's SDK
// within their models' windows. The program gives the SDK an http.Client that has a
// [Transport]:
//
//	http.Client{Transport: transport.New(g)}
//
// Requests that ask a model go through a [gateway.Gateway], all others are left alone. A
// request that needs no edit leaves with the bytes that the SDK wrote; one that a provider
// refuses as too long is sent again, shorter, before the SDK hears of it; where it cannot be
// made to fit, the SDK gets the error that its own provider would have answered with.
//
// The exchange over HTTP stands here and nowhere else: package proxy is a server around it.
package transport
