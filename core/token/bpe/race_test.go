//go:build race

package bpe

// raceDetector is set in a test with the race detector, under which a sync.Pool
// drops what it holds at random.
const raceDetector = true
