// Command gencatalog makes the tables of core/catalog that nobody keeps by hand:
// listed.csv, the models that openly licensed lists have, and prices.csv, what
// their makers ask for them.
//
//	go run ./internal/gencatalog -sources DIR
//
// DIR holds three files, which pins.go names with their versions, licences and
// checksums, and says how to get. A file with another checksum is refused: a new
// version of a source is a change of pins.go, to be reviewed with what it changes.
//
// Only what a maker's own API offers is read, never a reseller's price. The
// newest source that knows a price gives it; the others must agree, or are
// printed with what they say. overrides.csv is kept by hand and decides such
// cases, each with its reason. A price that nobody states, or that depends on the
// hour, is unknown.
package main
