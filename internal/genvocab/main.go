// Genvocab writes the data files that core/token/bpe embeds: the two published OpenAI vocabularies in a compact,
// sorted, front-coded form, and the table of Unicode character classes that the splitters use.
//
// It is a developer's tool, not part of the program: it runs only when a vocabulary or the format changes. The
// vocabularies come from the Go module github.com/pkoukk/tiktoken-go-loader (MIT), which embeds OpenAI's files
// unchanged; their SHA-256 must equal the hashes that OpenAI's own tiktoken expects, else nothing is written.
//
//	go run ./internal/genvocab -out core/token/bpe/vocab      write the embedded files
//	go run ./internal/genvocab -export DIR                    write DIR/<name>.tiktoken, read by testdata/gen_vectors.py
package main

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/pkoukk/tiktoken-go-loader/assets"
)

// source is one published vocabulary and the hash that OpenAI's tiktoken expects of it (tiktoken_ext/openai_public.py).
type source struct {
	name   string
	sha256 string
}

func sources() []source {
	return []source{
		{"cl100k_base", "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7"},
		{"o200k_base", "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"},
	}
}

func main() {
	out := flag.String("out", "", "folder to write the embedded files to")
	export := flag.String("export", "", "folder to write the published rank files to")
	flag.Parse()
	if err := run(*out, *export); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run does what the flags ask for; with neither it does nothing and says so.
func run(out, export string) error {
	if out == "" && export == "" {
		return fmt.Errorf("genvocab: arguments, want -out or -export, got neither")
	}
	for _, src := range sources() {
		text, err := load(src)
		if err != nil {
			return err
		}
		if export != "" {
			if err := os.WriteFile(filepath.Join(export, src.name+".tiktoken"), text, 0o644); err != nil {
				return fmt.Errorf("genvocab: export: %w", err)
			}
		}
		if out != "" {
			if err := writeVocabulary(out, src.name, text); err != nil {
				return err
			}
		}
	}
	if out == "" {
		return nil
	}
	table, err := classTable()
	if err != nil {
		return err
	}
	return write(out, "classes.bin", table)
}

// load reads one published rank file and checks it against OpenAI's hash.
func load(src source) ([]byte, error) {
	text, err := assets.Assets.ReadFile(src.name + ".tiktoken")
	if err != nil {
		return nil, fmt.Errorf("genvocab: load %s: %w", src.name, err)
	}
	sum := sha256.Sum256(text)
	if got := hex.EncodeToString(sum[:]); got != src.sha256 {
		return nil, fmt.Errorf("genvocab: load %s: sha256, want %s, got %s", src.name, src.sha256, got)
	}
	return text, nil
}

func writeVocabulary(out, name string, text []byte) error {
	tokens, err := parseRanks(text)
	if err != nil {
		return fmt.Errorf("genvocab: %s: %w", name, err)
	}
	body, err := pack(tokens)
	if err != nil {
		return fmt.Errorf("genvocab: %s: %w", name, err)
	}
	var zipped bytes.Buffer
	zw, err := gzip.NewWriterLevel(&zipped, gzip.BestCompression)
	if err != nil {
		return fmt.Errorf("genvocab: %s: %w", name, err)
	}
	if _, err := zw.Write(body); err != nil {
		return fmt.Errorf("genvocab: %s: %w", name, err)
	}
	if err := zw.Close(); err != nil {
		return fmt.Errorf("genvocab: %s: %w", name, err)
	}
	return write(out, name+".bin.gz", zipped.Bytes())
}

// write stores one file and prints the line that core/token/bpe/vocab/README.md and the hash test carry.
func write(out, name string, data []byte) error {
	if err := os.WriteFile(filepath.Join(out, name), data, 0o644); err != nil {
		return fmt.Errorf("genvocab: write: %w", err)
	}
	fmt.Printf("%x  %s  %d bytes\n", sha256.Sum256(data), name, len(data))
	return nil
}
