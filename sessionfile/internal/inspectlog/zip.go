package inspectlog

import (
	"archive/zip"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/plimsoll-dev/plimsoll/sessionfile"
	"github.com/plimsoll-dev/plimsoll/sessionfile/internal/read"
)

// magic begins a zip archive.
const magic = "PK\x03\x04"

// methodZstd is the compression method that newer versions of Inspect use (APPNOTE
// 4.4.5, method 93).
const methodZstd = 93

// Bounds on what is unpacked: an archive of some kilobytes can claim any size.
const (
	maxEntry   = 512 << 20
	maxDetect  = 4 << 20  // of an entry, to see what the archive is
	freeEntry  = 32 << 20 // may be of any ratio
	maxRatio   = 200      // of an entry's bytes to what it takes in the archive, above freeEntry
	likely     = 32       // the ratio for which room is made at first
	maxAll     = 8 << 30
	maxSamples = 1_000_000
	maxWindow  = 64 << 20 // of zstd, which is allocated at once
)

// heads are the entries that say what was evaluated: of a finished log, of one that is
// being written, and of early logs.
var heads = []string{"header.json", "_journal/start.json", "start.json"}

const (
	samplesFolder = "samples/"
	journalFolder = "_journal/"
)

// detectZip tells a log by the names of its entries, else by how a head begins. The names
// suffice where what says more stands behind megabytes.
func detectZip(archive *zip.Reader) sessionfile.Format {
	prepare(archive)
	if isNamed(archive) {
		return sessionfile.FormatInspect
	}
	for _, name := range heads {
		f := last(archive, name)
		if f == nil {
			continue
		}
		if isHead(beginning(f)) {
			return sessionfile.FormatInspect
		}
	}
	return ""
}

// isNamed reports whether the entries are named as in a log: a head with samples, or one
// with the journal of its writing.
func isNamed(archive *zip.Reader) bool {
	var head, finished, journal, sample bool
	for _, f := range archive.File {
		finished = finished || f.Name == heads[0]
		head = head || slices.Contains(heads, f.Name)
		journal = journal || strings.HasPrefix(f.Name, journalFolder)
		if !sample {
			_, sample = sampleOf(f)
		}
	}
	return head && sample || finished && journal
}

// beginning returns the fields at the beginning of an entry that say what it is, as far
// as they stand there. It reads no more than that.
func beginning(f *zip.File) read.Fields {
	r, err := f.Open()
	if err != nil {
		return nil
	}
	defer func() { _ = r.Close() }() // it was only read
	d := json.NewDecoder(io.LimitReader(r, maxDetect))
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return nil
	}
	fields := read.Fields{}
	for d.More() && !fields.Has("version", "eval") {
		name, err := d.Token()
		key, ok := name.(string)
		if err != nil || !ok {
			break
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			break
		}
		if (key == "version" || key == "eval") && read.IsJSON(value) {
			fields[key] = value
		}
	}
	return fields
}

// prepare lets an archive use zstd.
func prepare(archive *zip.Reader) {
	archive.RegisterDecompressor(methodZstd, zstd.ZipDecompressor(zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow)))
}

// last returns the last entry of a name: what is written again is appended.
func last(archive *zip.Reader, name string) *zip.File {
	for _, f := range slices.Backward(archive.File) {
		if f.Name == name {
			return f
		}
	}
	return nil
}

// zip reads an archive.
func (l *log) zip(in *read.Input) error {
	archive, err := in.Zip()
	if err != nil {
		return l.NotFormat(err)
	}
	prepare(archive)
	left := int64(maxAll)
	for _, name := range heads {
		d := l.unzip(last(archive, name), &left)
		if d == nil {
			continue
		}
		l.head(d.Fields())
		break
	}
	for _, e := range samples(archive) {
		if l.Stopped() {
			return nil
		}
		if e.pieces {
			l.Emit(sessionfile.Segment{
				Name: "sample " + e.id, Start: sessionfile.StartRoot,
				NotRun: "the sample is stored in pieces, which are not read",
			})
			continue
		}
		if d := l.unzip(e.file, &left); d != nil {
			l.sample(d.Bytes, func([]byte) int { return 0 }) // a line of an entry says nothing
		}
	}
	return nil
}

// unzip returns an entry as a document, or nil with the Problem reported. What it has
// is taken off what is left to be unpacked.
func (l *log) unzip(f *zip.File, left *int64) *read.Document {
	if f == nil {
		return nil
	}
	b, err := content(f, min(maxEntry, *left))
	*left -= int64(len(b))
	if err == nil {
		var d *read.Document
		if d, err = read.NewDocument(b); err == nil {
			return d
		}
	}
	l.Problem(0, "entry %.100q, skipped: %v", f.Name, err)
	return nil
}

// content returns an entry of at most limit bytes. The archive says how long it is, and
// is not believed: room is made for what compresses as such logs do, once more for the
// rest, and what claims to have been compressed far better is refused unread.
func content(f *zip.File, limit int64) ([]byte, error) {
	size, packed := f.UncompressedSize64, f.CompressedSize64
	switch {
	case size > uint64(max(limit, 0)):
		return nil, fmt.Errorf("archive: want at most %d bytes, got %d", max(limit, 0), size)
	case size > freeEntry && size/maxRatio > packed:
		return nil, fmt.Errorf("archive: want at most %d times what it takes in the archive, got %d bytes of %d", maxRatio, size, packed)
	}
	r, err := f.Open()
	if err != nil {
		return nil, err
	}
	b := make([]byte, min(size, 1<<20+likely*min(packed, size)))
	n, err := io.ReadFull(r, b)
	if err == nil && uint64(n) < size {
		b = append(make([]byte, 0, size), b...)[:size]
		_, err = io.ReadFull(r, b[n:])
	}
	if err == nil {
		err = ended(r)
	}
	if closed := r.Close(); err == nil {
		err = closed
	}
	return b, err
}

// ended reads the end, at which the checksum is compared.
func ended(r io.Reader) error {
	switch n, err := io.ReadFull(r, make([]byte, 1)); {
	case errors.Is(err, io.EOF):
		return nil
	case err != nil:
		return err
	default:
		return fmt.Errorf("archive: want the end, got %d byte more", n)
	}
}

// A sample of an archive.
type entry struct {
	file   *zip.File
	pieces bool
	id     string // of the sample, as its name has it
	epoch  int
}

// samples lists the samples of an archive, by epoch and id.
func samples(archive *zip.Reader) []entry {
	var all []entry
	at := map[string]int{}
	for _, f := range archive.File {
		e, ok := sampleOf(f)
		if !ok {
			continue
		}
		key := strconv.Itoa(e.epoch) + "\x00" + e.id
		if i, ok := at[key]; ok {
			all[i] = e
			continue
		}
		if len(all) == maxSamples {
			break
		}
		at[key] = len(all)
		all = append(all, e)
	}
	slices.SortStableFunc(all, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.epoch, b.epoch), compareIDs(a.id, b.id))
	})
	return all
}

// sampleOf reads the name of an entry: samples/ID_epoch_N.json, and
// samples/ID_epoch_N/sample.json of one in pieces.
func sampleOf(f *zip.File) (entry, bool) {
	name, ok := strings.CutPrefix(f.Name, samplesFolder)
	if !ok {
		return entry{}, false
	}
	e := entry{file: f}
	whole, isWhole := strings.CutSuffix(name, ".json")
	if piece, ok := strings.CutSuffix(name, "/sample.json"); ok {
		whole, e.pieces = piece, true
	} else if !isWhole {
		return entry{}, false
	}
	i := strings.LastIndex(whole, "_epoch_")
	if i < 0 {
		return entry{}, false
	}
	n, err := strconv.Atoi(whole[i+len("_epoch_"):])
	e.id, e.epoch = whole[:i], n
	return e, err == nil
}

// compareIDs puts numbers before texts, in their order.
func compareIDs(a, b string) int {
	x, err1 := strconv.Atoi(a)
	y, err2 := strconv.Atoi(b)
	switch {
	case err1 == nil && err2 == nil:
		return cmp.Compare(x, y)
	case err1 == nil:
		return -1
	case err2 == nil:
		return 1
	}
	return cmp.Compare(a, b)
}
