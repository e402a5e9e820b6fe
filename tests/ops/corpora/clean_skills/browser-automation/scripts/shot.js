#!/usr/bin/env node
// Take a screenshot of every address given on the command line.
const { chromium } = require('playwright');

async function main(urls) {
  const browser = await chromium.launch();
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  for (const [i, url] of urls.entries()) {
    await page.goto(url, { waitUntil: 'networkidle' });
    await page.evaluate(() => window.scrollTo(0, document.body.scrollHeight));
    await page.screenshot({ path: `shot-${i}.png`, fullPage: true });
    console.log(url, '->', `shot-${i}.png`);
  }
  await browser.close();
}

main(process.argv.slice(2)).catch((e) => { console.error(e); process.exit(1); });
