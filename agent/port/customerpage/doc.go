// Package customerpage is the customer's screen as a web page, for a kiosk browser on the box, and its
// keys.
//
// Files: screen.go holds what is shown and takes taps, serve.go answers a browser, page.go writes the
// page of a scene, sheet.go has its look, its script and the policy.
//
// It guarantees:
//   - The page shows what every other screen shows: texts and words are device/display/scene's, and a
//     code is never sent at or after its Until.
//   - It follows the scene by a stream and a script. Without a script it is whole, and loads itself
//     again.
//   - A tap counts once, and for the scene that showed it: each form has a random word, which is over
//     with the tap and with the scene. A key that the scene does not show does nothing.
//   - Each text is escaped. Script and sheet are constants that the policy allows by their hash;
//     nothing comes from elsewhere.
//   - Nothing of a request is logged. The page holds no id, no token and no card data.
//
// It does not judge where a request comes from: the local port does. Any program on the box may see
// the page and, where keys are switched on, press them, as any hand may at the box.
//
// It must not import the local port, the checkout, the store, nor html/template.
package customerpage
