//go:build !race

package bpe

const raceDetector = false
