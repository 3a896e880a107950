// Package exporttest gives the metrics of package telemetry to real exporters, Prometheus
// and OTLP, and looks at what arrives. It has no code of its own, only tests, and it is a
// module of its own, so that nobody who uses the library gets an exporter into their
// module graph. docs/telemetry.md quotes its examples.
//
//	cd telemetry/exporttest && go test ./...
package exporttest
