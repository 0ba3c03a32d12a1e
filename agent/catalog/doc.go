// Package catalog keeps the terminal's method definitions (S1 2.5): the last good list with its
// age. It refreshes the list in the background and uses it over restarts and outages.
//
// It owns the table catalog_list. It guarantees:
//   - Only a good list replaces a good list. An error, an empty answer or an unusable answer leaves
//     the stored list as it is.
//   - A list is not used if its stored row was changed, or if it was fetched for another terminal.
//   - "No method exists for the merchant" is a state of its own. It lasts until the service says
//     otherwise.
//   - The service gets one request at a time, and fewer after each failure.
//
// It must not import the checkout or any room that knows what a sale is.
package catalog
