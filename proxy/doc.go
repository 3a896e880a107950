// Package proxy is a server that stands between clients and model providers. It passes on
// what comes, byte for byte, and sends what asks a model through package transport, so
// that clients which know nothing of Plimsoll stay within their models' windows.
//
//	server, err := proxy.New(proxy.Options{Gateway: g})
//	…
//	err = server.Serve(ctx, listener) // until ctx ends; what is in flight is finished
//
// It decides three things only: whether a request may pass (keys, limits, the Host header),
// which upstream it goes to (by its path and headers), and how an answer that no upstream
// gave is said in the client's dialect. It never reads a body: that is transport's.
package proxy
