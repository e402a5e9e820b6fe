import { writeFile } from 'node:fs/promises';

const [, , prompt, out = 'out.png', size = '1024x1024'] = process.argv;
const key = process.env.OPENAI_API_KEY;
if (!key) {
  console.error('OPENAI_API_KEY is not set');
  process.exit(1);
}

const res = await fetch('https://api.openai.com/v1/images/generations', {
  method: 'POST',
  headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
  body: JSON.stringify({ model: 'gpt-image-1', prompt, size }),
});
if (!res.ok) {
  console.error(res.status, await res.text());
  process.exit(1);
}
const { data } = await res.json();
await writeFile(out, Buffer.from(data[0].b64_json, 'base64'));
console.log(out);
