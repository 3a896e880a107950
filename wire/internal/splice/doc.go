// Package splice makes one reply of several, as [wire.Splice] says it, for codecs: it cuts
// streams into frames, has them decoded, and keeps apart what passes, what is hidden and
// what ends the reply. What a payload says, and how one is written anew, the dialect's
// [Rules] know.
package splice
