package proxy

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/plimsoll-dev/plimsoll/client"
	"github.com/plimsoll-dev/plimsoll/transport"
)

// RecordVersion is the version of the files that Options.Record asks for. It rises when a
// field changes its meaning.
const RecordVersion = 1

// A Recorded call is one file: a list with this alone in it, as recorders of HTTP write it.
// Bodies are unpacked; keys, cookies and what names an account are masked.
type Recorded struct {
	// Plimsoll comes first: who looks for a conversation reads the beginnings of many files.
	Plimsoll RecordedExchange `json:"plimsoll"`

	Method          string      `json:"method"`
	Scope           string      `json:"scope"` // scheme and host of the upstream
	Path            string      `json:"path"`  // there, without the query
	RequestHeaders  http.Header `json:"reqheaders"`
	Body            string      `json:"body"` // as the client sent it
	Status          int         `json:"status"`
	ResponseHeaders http.Header `json:"rawHeaders"`
	ContentType     string      `json:"contentType"`
	Response        string      `json:"response"`         // as the client got it; base64 of what is no text
	Binary          bool        `json:"responseIsBinary"` // it is base64
}

// A RecordedExchange is what the proxy did.
type RecordedExchange struct {
	Version   int       `json:"version"` // RecordVersion
	Time      time.Time `json:"time"`    // of the request
	Ended     time.Time `json:"ended"`   // of the answer's end
	Provider  string    `json:"provider"`
	Dialect   string    `json:"dialect"`
	Model     string    `json:"model"`
	Session   string    `json:"session"`
	Match     string    `json:"match"`
	Truncated bool      `json:"truncated"` // a body went on
	Sent      string    `json:"sent"`      // the body that left last, where it is another one than the client's
}

// mostRecorded is how much of a body is recorded, in bytes.
const mostRecorded = transport.MostBody

// A recording is what is kept of one exchange until it is written.
type recording struct {
	request  kept
	response kept
	sent     kept
	asked    http.Header
	secrets  []string // keys that the request carries
}

// kept is the beginning of a body.
type kept struct {
	bytes.Buffer
	cut bool
}

func (k *kept) add(p []byte) {
	n := min(len(p), mostRecorded-k.Len())
	k.Write(p[:n])
	k.cut = k.cut || n < len(p)
}

// newRecording begins to record a request, which has the client's own head still.
func newRecording(r *http.Request) *recording {
	rec := &recording{asked: r.Header.Clone()}
	for _, name := range append([]string{keyHeader}, slots...) {
		for _, v := range r.Header.Values(name) {
			rec.secrets = append(rec.secrets, bearer(v))
		}
	}
	rec.secrets = append(rec.secrets, r.URL.Query()["key"]...)
	return rec
}

// A recordingBase keeps the bodies that leave.
type recordingBase struct{ http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (b recordingBase) RoundTrip(r *http.Request) (*http.Response, error) {
	if x := exchangeOf(r); x != nil && x.record != nil && r.GetBody != nil {
		if copied, err := r.GetBody(); err == nil {
			data, _ := io.ReadAll(copied) // it is in memory
			x.record.sent = kept{}
			x.record.sent.add(data)
		}
	}
	return b.RoundTripper.RoundTrip(r)
}

// recorder writes files.
type recorder struct {
	dir string
	n   atomic.Int64
}

// write writes the file of an exchange.
func (d *recorder) write(x *exchange, w *writer) error {
	report := x.reported()
	call := Recorded{
		Method: x.method, Scope: x.upstream.base.Scheme + "://" + x.upstream.base.Host, Path: x.rest,
		RequestHeaders: maskHeader(x.record.asked), Status: w.status, ResponseHeaders: maskHeader(w.Header()), ContentType: w.Header().Get("Content-Type"),
		Plimsoll: RecordedExchange{
			Version: RecordVersion, Time: x.start.UTC(), Ended: time.Now().UTC(), Provider: x.route.Provider, Dialect: string(x.route.Dialect), Model: report.Model,
			Session: report.Session, Match: string(report.Match), Truncated: x.record.request.cut || x.record.response.cut || x.record.sent.cut,
		},
	}
	asked := x.record.asked.Get("Content-Encoding")
	call.Body, _ = x.record.text(asked, x.record.request.Bytes())
	call.Response, call.Binary = x.record.text(w.Header().Get("Content-Encoding"), x.record.response.Bytes())
	if report.Edited {
		call.Plimsoll.Sent, _ = x.record.text("", x.record.sent.Bytes())
	}
	data, err := json.MarshalIndent([]Recorded{call}, "", "  ")
	if err != nil {
		return err
	}
	name := fmt.Sprintf("%s-%06d-%s.json", x.start.UTC().Format("20060102T150405.000"), d.n.Add(1), x.upstream.name)
	return os.WriteFile(filepath.Join(d.dir, name), append(data, '\n'), 0o600)
}

// text returns a body as text without secrets, or what is none in base64.
func (r *recording) text(coding string, packed []byte) (text string, binary bool) {
	plain, err := transport.Unpack(coding, packed)
	if err != nil || !utf8.Valid(plain) {
		return base64.StdEncoding.EncodeToString(packed), true
	}
	return string(accounts.ReplaceAll(client.MaskBody(plain, r.secrets...), []byte("${1}${2}[secret]"))), false
}

// accounts finds what names an account in the bodies of known clients, also where it stands
// in a JSON text within JSON.
var accounts = regexp.MustCompile(`((?:account_uuid|device_id|organization_id|safety_identifier)\\?"\s*:\s*\\?")[0-9a-zA-Z-]{8,}|(\buser_)[0-9a-f]{16,}_account_[0-9a-f-]*`)

// maskHeader returns a head without what belongs to a person.
func maskHeader(h http.Header) http.Header {
	out := http.Header{}
	for name, values := range h {
		low := strings.ToLower(name)
		if client.CarriesKey(name) || name == keyHeader || slices.ContainsFunc([]string{"cookie", "account", "organization", "project", "user-id", "device"}, func(part string) bool { return strings.Contains(low, part) }) {
			values = []string{"[secret]"}
		}
		for _, v := range values {
			out[name] = append(out[name], string(client.MaskBody([]byte(v))))
		}
	}
	return out
}
