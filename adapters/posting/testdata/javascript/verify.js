// Reads a list of {headers, body, secret} as JSON and prints one line for each: "verified", or why it is not.
const { Webhook } = require("standardwebhooks");

for (const { headers, body, secret } of JSON.parse(require("fs").readFileSync(0, "utf8"))) {
	try {
		new Webhook(secret).verify(body, headers);
		console.log("verified");
	} catch (error) {
		console.log(error.message);
	}
}
