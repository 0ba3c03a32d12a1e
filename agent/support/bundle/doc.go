// Package bundle packs what a help desk needs of a terminal into one file that anybody may see.
//
// It owns the form of that file: an archive (tar, gzip) with a manifest that names each part, its
// size, its SHA-256 and how it was made, and a short marker to read over the telephone.
//
// It guarantees:
//   - Only what the caller names is inside. It collects nothing by itself.
//   - No part has a secret that the caller names, as it is or escaped for JSON, nothing that reads
//     like a card number, and nothing that stands behind a name of a secret.
//   - A part that is JSON stays JSON.
//   - The same parts make the same bytes, and so the same marker.
//
// It imports schemes/wire for card numbers, and no other package of this module: it knows no room.
package bundle
