// The program of audit_command.py in JavaScript: the mean of labels in [0, 1], plus Laplace noise of scale 1/n.
//
//     dp-oracle audit --cmd "node examples/audit_command.js" --epsilon 1 --delta 1e-5 --records 20 --dimension 2

const datasets = {};

// A small generator (splitmix64), for a release must depend on nothing but the data set and the seed.
function uniform(seed) {
  let z = BigInt.asUintN(64, BigInt(seed) + 0x9e3779b97f4a7c15n);
  z = BigInt.asUintN(64, (z ^ (z >> 30n)) * 0xbf58476d1ce4e5b9n);
  z = BigInt.asUintN(64, (z ^ (z >> 27n)) * 0x94d049bb133111ebn);
  return (Number((z ^ (z >> 31n)) >> 12n) + 0.5) / 2 ** 52;
}

require("readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const request = JSON.parse(line);
  if (request.labels) datasets[request.dataset] = request.labels;
  const labels = datasets[request.dataset];
  const mean = labels.reduce((sum, label) => sum + label, 0) / labels.length;
  const releases = request.seeds.map((seed) => {
    const centred = uniform(seed) - 0.5;
    return mean - (Math.sign(centred) * Math.log1p(-2 * Math.abs(centred))) / labels.length;
  });
  process.stdout.write(JSON.stringify({ id: request.id, dataset: request.dataset, releases }) + "\n");
});
