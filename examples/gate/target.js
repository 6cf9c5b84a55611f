// The accountant of target.py in JavaScript.
//
//     dp-oracle gate --cmd "node examples/gate/target.js" --bound laplace.delta

const UNIT = 2 ** -53;

function answer({ scale, sensitivity, epsilon }) {
  // NaN, infinities and texts come as strings, as JSON has no such numbers.
  if ([scale, sensitivity, epsilon].some((value) => typeof value !== "number")) return { refused: "no number" };
  if (!(scale > 0 && sensitivity > 0 && epsilon >= 0)) {
    return { refused: "scale > 0, sensitivity > 0 and epsilon >= 0 are needed" };
  }
  const ratio = sensitivity / scale;
  const gap = ratio - epsilon + 4 * UNIT * (ratio + epsilon);
  return { value: gap > 0 ? Math.min(1, -Math.expm1(-gap / 2) * (1 + 8 * UNIT)) : 0 };
}

require("readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const question = JSON.parse(line);
  process.stdout.write(JSON.stringify({ id: question.id, ...answer(question.input) }) + "\n");
});
