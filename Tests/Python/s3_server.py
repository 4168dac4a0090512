#!/usr/bin/env python3
"""An S3 server (moto) with one bucket, which checks signatures. Prints one line of JSON, then serves until it is ended.

The line says on which port: any that is free.

usage: s3_server.py
"""
import json, time, urllib.request

import boto3
from moto.server import ThreadedMotoServer

server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
server.start()
port = server.get_host_and_port()[1]
address = f"http://127.0.0.1:{port}"


def client(name, key="anybody", secret="anything"):
    return boto3.client(name, endpoint_url=address, region_name="eu-west-1", aws_access_key_id=key,
                        aws_secret_access_key=secret)


client("s3").create_bucket(Bucket="pictures", CreateBucketConfiguration={"LocationConstraint": "eu-west-1"})
iam = client("iam")
iam.create_user(UserName="transfa")
key = iam.create_access_key(UserName="transfa")["AccessKey"]
policy = {"Version": "2012-10-17",
          "Statement": [{"Effect": "Allow", "Action": "s3:*", "Resource": "*"}]}
iam.put_user_policy(UserName="transfa", PolicyName="all", PolicyDocument=json.dumps(policy))
# From now on every request must carry a good signature.
urllib.request.urlopen(urllib.request.Request(f"{address}/moto-api/reset-auth", data=b"0", method="POST",
                                              headers={"Content-Type": "text/plain"})).read()
print(json.dumps({"port": port, "id": key["AccessKeyId"], "secret": key["SecretAccessKey"], "bucket": "pictures"}),
      flush=True)
while True:
    time.sleep(3600)
