// A shop's program with the library that shops have for payment links: it makes a link, reads it and deletes it.
// node link-library.js BASE INSTANCE SECRET
const { PayRexx } = require("payrexx");

async function main() {
  const [base, instance, secret] = process.argv.slice(2);
  const shop = new PayRexx(instance, secret);
  shop.endPoint = base + "/v1.0/";
  console.log("signature", await shop.checkSignature());
  const made = await shop.paylink.create({
    title: "Order", description: "Chairs", referenceId: "order-7", purpose: "Chairs", amount: 1250, currency: "EUR", vatRate: 7.7,
  });
  console.log("made", made.amount);
  const read = await shop.paylink.get(made.id);
  console.log("read", read.status, read.referenceId);
  const deleted = await shop.paylink.delete(made.id);
  console.log("deleted", deleted.status);
  try {
    await shop.paylink.get(made.id);
    console.log("still there");
  } catch (e) {
    console.log("gone", e.response.status);
  }
}

main().catch((e) => {
  console.error(e.response ? e.response.status + " " + JSON.stringify(e.response.data) : e);
  process.exit(1);
});
