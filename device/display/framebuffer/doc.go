// Package framebuffer writes pictures to a Linux framebuffer, or to a plain file of a stated layout.
//
// It owns the device: what it says of itself, the bits of a pixel, the turn of the picture, and
// which rows have changed.
//
// It guarantees:
//   - Nothing is written outside the visible part of a device, nor beyond the stated size of a file.
//   - A device that lies about its size, or has a layout that is not known, is refused with what it
//     said. So is a file that holds something else, and anything that is neither.
//   - It writes by pwrite and maps no memory: a device that goes away is an error, not a signal.
//   - After an error the next Write opens the device again and draws all of the picture.
//
// It knows no scene and no page. It must not import any room.
package framebuffer
