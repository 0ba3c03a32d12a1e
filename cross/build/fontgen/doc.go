// Command faces writes the letters of the screen: the Go fonts as they are published, as outlines.
//
// It guarantees that a file it has written holds a whole face; it writes nothing where a font cannot
// be read. make faces runs it at the top of the tree.
package main
