"""Tools that agents and people run by name through npx, uvx and their like, without installing them first."""

from __future__ import annotations

from .names import names

NAMES = names(
    "tsc eslint prettier jest vitest mocha vite webpack rollup esbuild parcel next nuxt astro svelte-kit "
    "ng nx turbo lerna tsx ts-node typescript create-react-app create-next-app create-vite create-vue "
    "create-svelte create-astro create-expo-app playwright cypress puppeteer storybook sb prisma "
    "drizzle-kit knex sequelize-cli typeorm tailwindcss postcss sass stylelint husky lint-staged "
    "commitlint semantic-release standard-version changeset npm-check-updates ncu depcheck madge knip "
    "serve http-server live-server json-server nodemon concurrently cross-env rimraf mkdirp del-cli cpx "
    "copyfiles wait-on cowsay degit tiged envinfo license-checker size-limit bundlesize lighthouse pa11y "
    "markdownlint-cli markdownlint-cli2 remark-cli textlint cspell dprint biome oxlint rome swc babel gulp "
    "grunt bower yo expo react-native cap capacitor ionic firebase-tools vercel netlify-cli wrangler "
    "supabase sst serverless cdk aws-cdk cdk8s shadcn shadcn-ui shadcn@latest openapi-generator-cli "
    "openapi-typescript swagger-cli redocly graphql-codegen quicktype pnpm yarn npm node-gyp pm2 web-ext "
    "electron electron-builder tauri asar patch-package c8 nyc ava tap qunit karma testcafe wdio zx ruff "
    "black mypy flake8 isort pylint bandit pytest tox nox pre-commit cookiecutter copier poetry pdm hatch "
    "build twine httpie yt-dlp pip-audit pip-tools pyupgrade pyright basedpyright ty codespell sqlfluff "
    "yamllint ansible ansible-lint mkdocs sphinx jupyter jupyterlab ipython datasette csvkit visidata "
    "pgcli litecli mycli marimo streamlit uvicorn gunicorn fastapi flask django-admin django "
    "bump-my-version bumpversion check-jsonschema vulture radon deptry semgrep safety checkov zizmor "
    "virtualenv pipenv pipx uv maturin cibuildwheel mutmut coverage dvc html-validate htmlhint csslint "
    "stylelint-config-standard jshint standard xo ts-prune ts-unused-exports unimported npm-check "
    "npm-run-all npm-run-all2 tsup tsd rolldown rspack farm parcel-bundler microbundle np release-it "
    "auto-changelog conventional-changelog conventional-changelog-cli commitizen cz gitmoji "
    "source-map-explorer webpack-bundle-analyzer dependency-cruiser jscpd plop hygen yalc verdaccio svgo "
    "sharp-cli imagemin imagemin-cli favicons marked markdown-it markdown-toc doctoc markdown-link-check "
    "broken-link-checker linkinator mermaid-cli mmdc slidev reveal-md docsify docsify-cli vuepress "
    "vitepress docusaurus gatsby gatsby-cli hexo eleventy nodeshift ajv ajv-cli json2ts "
    "json-schema-to-typescript openapi-generator spectral newman artillery autocannon loadtest mockoon-cli "
    "msw pact solhint hardhat truffle ganache autoprefixer purgecss uglify-js terser clean-css-cli "
    "html-minifier html-minifier-terser pug-cli ejs handlebars mustache nunjucks tree-cli npkill is-ci "
    "kill-port fkill fkill-cli tldr trash-cli nx-cloud ts-node-dev esno unbuild changelogen taze "
    "create-turbo create-remix create-react-router create-solid create-qwik create-t3-app create-nuxt "
    "create-electron-app create-hono create-cloudflare create-docusaurus create-strapi-app nuxi pdoc pdoc3 "
    "pydocstyle pycodestyle pyflakes autopep8 yapf pyre pytype vermin refurb sourcery interrogate "
    "docformatter pip-licenses pipdeptree pip-check-reqs pip-upgrader johnnydep towncrier locust httpx-cli "
    "http-prompt glances asciinema rich-cli textual posting harlequin frogmouth toolong sqlite-utils "
    "csvs-to-sqlite shot-scraper llm files-to-prompt ttok strip-tags markitdown mdformat nbstripout nbqa "
    "jupytext papermill kaggle huggingface-cli hf cruft scalene py-spy memray snakeviz viztracer "
    "ansible-navigator molecule esptool platformio mpremote"
)
# Beginnings of names that belong to one publisher.
SCOPES = tuple(
    names(
        "@angular/ @babel/ @biomejs/ @changesets/ @nestjs/ @vue/ @storybook/ @playwright/ @tailwindcss/ "
        "@prisma/ @types/ @typescript-eslint/ @openapitools/ @redocly/ @graphql-codegen/ @sveltejs/ "
        "@astrojs/ @expo/ @ionic/ @capacitor/ @tauri-apps/ @swc/ @commitlint/ @modelcontextprotocol/ "
        "@microsoft/ @google/ @aws-cdk/ @vercel/ @cloudflare/ @react-native-community/ @remix-run/ "
        "@shopify/ @sentry/ @nrwl/ @nx/ @stoplight/ @arethetypeswrong/ @mermaid-js/ @marp-team/ @slidev/ "
        "@11ty/ @docusaurus/ @svgr/ @cyclonedx/ @apidevtools/ @asyncapi/ @hey-api/ @vitejs/ @vitest/ "
        "@eslint/ @stylistic/ @lhci/ @axe-core/ @web/ @rspack/ @rsbuild/ @parcel/ @electron-forge/ "
        "@electron/ @react-native/ @supabase/ @netlify/ @railway/ @pnpm/ @yarnpkg/ @npmcli/ @lerna/ "
        "@semantic-release/ @release-it/ @github/ @octokit/ @googleapis/ @azure/ @aws-amplify/ "
        "@serverless/ @nuxt/ @solidjs/ @builder.io/ @preact/ @hono/ @unocss/ @antfu/ @bazel/ @wordpress/ "
        "@salesforce/ @sap/ @mui/ @percy/ @cucumber/ @wdio/ @testing-library/"
    )
)
