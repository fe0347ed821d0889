#!/bin/sh
# Fetches a version of Swagger UI into swagger-ui/: adapters/http/docs/update.sh 5.35.0
set -eu
version=${1:?usage: update.sh VERSION}
target=$(cd "$(dirname "$0")" && pwd)/swagger-ui
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cd "$work"
npm pack --silent "swagger-ui-dist@$version" >/dev/null
tar -xzf swagger-ui-dist-*.tgz
cd package
mv swagger-ui-bundle.js.LICENSE.txt bundled
{
    echo "Swagger UI $version, https://github.com/swagger-api/swagger-ui"
    cat NOTICE
    echo
    cat LICENSE
    echo
    echo "What it is bundled with:"
    cat bundled
} >swagger-ui-bundle.js.LICENSE.txt # the name by which the bundle refers to it
gzip -9n swagger-ui-bundle.js swagger-ui.css swagger-ui-bundle.js.LICENSE.txt
mv swagger-ui-bundle.js.gz swagger-ui.css.gz swagger-ui-bundle.js.LICENSE.txt.gz "$target"
