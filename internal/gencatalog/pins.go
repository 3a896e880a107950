package main

// asOf is the day of the newest source. Of prices with a first day, that of the
// latest one up to here is taken.
const asOf = "2026-10-28"

// A pin says which version of a source is read.
type pin struct {
	name    string // as the tables call it
	file    string // in the folder of sources
	version string
	licence string
	sha256  string // of the file
	get     string // how to get the file
	read    func(data []byte) ([]record, error)
}

// pins are the sources, newest first.
func pins() []pin {
	return []pin{
		{
			name: "catwalk", file: "catwalk.zip", version: "charm.land/catwalk v0.52.86 (28 October 2026)", licence: "MIT",
			sha256: "36399eecbf70e7dd97a5d5c40a9703838980dd930ff64a970fbad69d6e0032ba",
			get:    "go mod download -json charm.land/catwalk@v0.52.86 (the file that it names Zip)",
			read:   readCatwalk,
		},
		{
			name: "genai-prices", file: "genai-prices.tgz", version: "@pydantic/genai-prices 0.1.8 (23 September 2026)", licence: "MIT",
			sha256: "8c9ba41e46719abc54a0ae4756ba5f2b5a768b8117fb29f40c5ca7ed3146eb5b",
			get:    "npm pack @pydantic/genai-prices@0.1.8",
			read:   readGenai,
		},
		{
			name: "models.dev", file: "models.dev.tar", version: "github.com/anomalyco/models.dev f3fc69229967 (1 July 2026)", licence: "MIT",
			sha256: "6d3ae33931300d613ab8635b2650f7d1fbe578af0af2b57f54ac34bcde751fab",
			get:    "git archive f3fc692299671838c7c65fd8126bf84d81a2e817 models providers LICENSE, in a clone of it, with --format=tar",
			read:   readModelsDev,
		},
	}
}
